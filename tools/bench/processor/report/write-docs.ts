import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { projectFile } from '../../../dev-stack/index.js';
import type { BenchResults } from '../bench-results.js';
import { chartSvg } from './chart.js';
import { figuresOf, type Figures } from './figures.js';
import { counted } from './number-text.js';
import { summaryRows } from './summary.js';
import { reportMarkdown } from './tables.js';

const PAGE = 'docs/benchmarks.md';
const PICTURE = 'docs/images/bench-processor.svg';
const BEGIN = '<!-- bench:processor begin: written by the benchmark -->';
const END = '<!-- bench:processor end -->';

/** Replaces the result in docs/benchmarks.md, and its picture; the text around it is left alone. */
export async function writeDocs(results: BenchResults): Promise<void> {
  const figures = figuresOf(results);
  const page = projectFile(PAGE);
  const text = withReport(await readFile(page, 'utf8'), reportMarkdown(results, figures));
  await writeFile(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }));
  await writeFile(projectFile(PICTURE), pictureOf(results, figures));
}

/** @throws when the page has lost the marks between which the result stands */
export function withReport(page: string, report: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from)
    throw new Error(`${PAGE} has no place for the result: it stands between "${BEGIN}" and "${END}".`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${report}\n\n${page.slice(to)}`;
}

function pictureOf({ machine, backlog }: BenchResults, figures: Figures): string {
  const subtitle = `${counted(backlog.pings)} pings, ${counted(backlog.devices)} devices, 4 partitions; one machine with ${String(machine.cores)} cores; each side in its best configuration for the figure`;
  const panels = summaryRows(figures).map(({ title, note, pair, text }) => ({
    title,
    note,
    bars: [
      { name: 'Waypost', value: pair.ours ?? 0, text: text(pair.ours ?? 0) },
      { name: 'Kafka Streams', value: pair.theirs ?? 0, text: text(pair.theirs ?? 0) },
    ],
  }));
  return chartSvg('telemetry-processor beside Kafka Streams', subtitle, panels);
}
