import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { projectFile } from '../../../dev-stack/index.js';
import { chartSvg, type Panel } from '../../processor/report/chart.js';
import type { BenchFlags } from '../bench-flags.js';
import type { BenchResults } from '../bench-results.js';
import { figuresOf } from './figures.js';
import { machineText } from './machine-text.js';
import { PEERS } from './peers.js';
import { summaryRows, type SummaryRow } from './summary.js';
import { reportMarkdown } from './tables.js';

const PAGE = 'docs/benchmarks.md';
const PICTURE = 'docs/images/bench-delivery.svg';
const BEGIN = '<!-- bench:delivery begin: written by the benchmark -->';
const END = '<!-- bench:delivery end -->';

/** Replaces the result in docs/benchmarks.md, and its picture; the text around it is left alone. */
export async function writeDocs(flags: BenchFlags, results: BenchResults): Promise<void> {
  const page = projectFile(PAGE);
  const report = reportMarkdown(results, machineText(flags, results));
  const text = withReport(await readFile(page, 'utf8'), report);
  await writeFile(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }));
  await writeFile(projectFile(PICTURE), pictureOf(results));
}

/** @throws when the page has lost the marks between which the result stands */
export function withReport(page: string, report: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from)
    throw new Error(`${PAGE} has no place for the result: it stands between "${BEGIN}" and "${END}".`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${report}\n\n${page.slice(to)}`;
}

function pictureOf(results: BenchResults): string {
  const panels = summaryRows(figuresOf(results)).flatMap(panelOf);
  return chartSvg(
    'webhook-delivery beside the best of Svix, Outpost and Convoy',
    'each figure beside the peer that is best at it; measured on different machines of the same size, so ratios are rough',
    panels,
  );
}

/** No panel where no peer was measured. */
function panelOf({ title, note, ours, peers, text, isMoreBetter }: SummaryRow): Panel[] {
  const known = PEERS.flatMap(({ name }, index) => {
    const value = peers[index] ?? null;
    return value === null ? [] : [{ name: name.split(' ')[0] ?? name, value, text: text(value) }];
  });
  const [best] = known.sort((one, other) => (isMoreBetter ? other.value - one.value : one.value - other.value));
  // A bar has no length where both are nothing.
  if (best === undefined || ours === null || Math.max(best.value, ours) === 0) return [];
  return [
    {
      title,
      note: `${note}; ${isMoreBetter ? 'more' : 'less'} is better`,
      bars: [{ name: 'Waypost', value: ours, text: text(ours) }, best],
    },
  ];
}
