import { readFile, writeFile } from 'node:fs/promises';
import { formatted } from '../../../tools/codegen/formatted.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';

const PAGE = 'docs/benchmarks.md';

/** Replaces the result of a benchmark in a page of the docs; the text around it is left alone. */
export async function writeSection(bench: string, report: string, path = PAGE): Promise<void> {
  const page = projectFile(path);
  const text = withSection(await readFile(page, 'utf8'), bench, report);
  await writeFile(page, await formatted(page, text));
}

/**
 * Replaces the result in docs/benchmarks.md, which shows its first table. The other tables and the raw results stand beside
 * the page, in docs/results.
 *
 * @param results undefined: they are saved already
 */
export async function writeResult(bench: string, report: string, results?: unknown): Promise<void> {
  const { shown, more } = splitResult(bench, report);
  await writeSection(bench, shown);
  if (results !== undefined) {
    const raw = projectFile(`docs/results/${bench}.json`);
    await writeFile(raw, await formatted(raw, JSON.stringify(results)));
  }
  if (more === null) return;
  const page = projectFile(`docs/results/${bench}.md`);
  await writeFile(page, await formatted(page, more));
}

/** What docs/benchmarks.md shows of a report, and the page of its other tables; null: it has one at most. */
export function splitResult(bench: string, report: string): { readonly shown: string; readonly more: string | null } {
  const second = report.indexOf('\n### ', report.indexOf('### ') + 1);
  if (second < 0) return { shown: report, more: null };
  const facts = report.slice(0, report.indexOf('### '));
  const more = `# More results of bench:${bench}\n\nOf the run in [benchmarks.md](../${PAGE.split('/').at(-1) ?? ''}).\n\n${facts}`;
  return {
    shown: `${report.slice(0, second).trim()}\n\n[More tables](results/${bench}.md)`,
    more: `${more}${report.slice(second + 1).replaceAll(/^### /gm, '## ')}\n`,
  };
}

export async function writePicture(bench: string, svg: string): Promise<void> {
  await writeFile(projectFile(`docs/images/bench-${bench}.svg`), svg);
}

/** @throws when the page has lost the marks between which the result stands */
export function withSection(page: string, bench: string, report: string): string {
  const begin = `<!-- bench:${bench} begin: written by the benchmark -->`;
  const end = `<!-- bench:${bench} end -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from)
    throw new Error(`The page has no place for the result: it stands between "${begin}" and "${end}".`);
  return `${page.slice(0, from + begin.length)}\n\n${report}\n\n${page.slice(to)}`;
}

export function bulletList(facts: readonly string[]): string {
  return facts.map((fact) => `- ${fact}`).join('\n');
}

/** A heading and a table. */
export function tableSection(title: string, rows: readonly string[][]): string[] {
  return [`### ${title}`, tableOf(rows)];
}

/** Head first; the first column is text, the others are numbers. */
export function tableOf([head = [], ...rows]: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
