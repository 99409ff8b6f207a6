import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('..', import.meta.url).pathname;
const IGNORED = new Set(['node_modules', 'dist', '.waypost', '.git']);

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED.has(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
}

/** The anchors that GitHub makes of the headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```[^]*?^```/gm, '').match(/^#{1,6} .+$/gm) ?? [];
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function relativeLinks(file: string): string[] {
  const links = [...withoutCode(readFileSync(file, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function linksOutOfPackage(readme: string): string[] {
  const manifest = join(dirname(readme), 'package.json');
  if (!existsSync(manifest)) return [];
  const { files: packed } = JSON.parse(readFileSync(manifest, 'utf8')) as { files?: string[] };
  return relativeLinks(readme)
    .filter((link) => packed && !link.startsWith('#') && !packed.includes(link.split(/[/#]/)[0] ?? ''))
    .map((link) => `${relative(ROOT, readme)}: ${link}`);
}

function brokenLinks(file: string): string[] {
  return relativeLinks(file)
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
    })
    .map((link) => `${relative(ROOT, file)}: ${link}`);
}

describe('the documentation', () => {
  const files = markdownFiles(ROOT);

  it('has no broken links', () => expect(files.flatMap(brokenLinks)).toEqual([]));

  it('links from the README of a package to nothing but what is packed with it', () => {
    const outside = files.filter((file) => file.endsWith('/README.md')).flatMap(linksOutOfPackage);
    expect(outside).toEqual([]);
  });

  it('shows the benchmarks in 200 lines: more of them stands in docs/results', () => {
    expect(readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(200);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const unknown = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/npm run (?:-s )?([\w:-]+)/g)]
        .filter(([, script = '']) => !(script in scripts))
        .map(([command]) => `${relative(ROOT, file)}: ${command}`),
    );
    expect(unknown).toEqual([]);
  });
});
