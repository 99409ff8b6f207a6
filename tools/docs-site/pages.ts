/** Every Markdown file of the repository is a page, at the path of its file without `docs/`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Paths relative to the root. Includes new files, but none that git ignores. */
export function pageFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n');
  return listed.filter((file) => file !== '' && existsSync(join(root, file))).sort();
}

/** docs/README.md is the first page; the repository's README has its own address. */
export function addressOf(file: string): string {
  if (file === 'docs/README.md') return 'index.md';
  if (file === 'README.md') return 'overview.md';
  return file.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

export function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1]?.replaceAll('`', '') ?? file;
}

/** The anchor that forges derive from a heading, which links in the Markdown use. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

export type Target =
  | { readonly type: 'page'; readonly href: string }
  | { readonly type: 'file'; readonly file: string };

/**
 * Resolves a relative link of a page: to a page of the site, or to a file or folder that only the repository has.
 *
 * @throws Error if there is no target
 */
export function targetOf(fromFile: string, link: string, files: readonly string[]): Target {
  const [path = '', anchor] = link.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const file = path === '' ? fromFile : posix.normalize(posix.join(dirname(fromFile), path)).replace(/\/$/, '');
  if (!existsSync(join(root, file))) throw new Error(`${fromFile} has a dead link: ${link}`);
  const page = statSync(join(root, file)).isDirectory() ? firstPageIn(file, files) : file;
  if (page !== undefined && files.includes(page)) return { type: 'page', href: `/${addressOf(page)}${hash}` };
  return { type: 'file', file };
}

function firstPageIn(folder: string, files: readonly string[]): string | undefined {
  return files.find((file) => file === `${folder}/README.md`) ?? files.find((file) => dirname(file) === folder);
}
