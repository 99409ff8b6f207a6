import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { projectFile } from '../../tools/dev-stack/index.js';

const PAGE = 'docs/benchmarks.md';

function beginOf(bench: string): string {
  return `<!-- bench:${bench} begin: written by the benchmark -->`;
}
function endOf(bench: string): string {
  return `<!-- bench:${bench} end -->`;
}

/** Replaces the result of a benchmark in docs/benchmarks.md; the text around it is left alone. */
export async function writeSection(bench: string, report: string): Promise<void> {
  const page = projectFile(PAGE);
  const text = withSection(await readFile(page, 'utf8'), bench, report);
  await writeFile(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }));
}

/** @throws when the page has lost the marks between which the result stands */
export function withSection(page: string, bench: string, report: string): string {
  const [begin, end] = [beginOf(bench), endOf(bench)];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from)
    throw new Error(`${PAGE} has no place for the result: it stands between "${begin}" and "${end}".`);
  return `${page.slice(0, from + begin.length)}\n\n${report}\n\n${page.slice(to)}`;
}
