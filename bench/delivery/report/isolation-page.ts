import { chartSvg, type Panel } from '../../shared/report/chart.js';
import { bulletList, tableSection, writePicture, writeSection } from '../../shared/report/docs-section.js';
import { counted, milliseconds } from '../../shared/report/number-text.js';
import type { Percentiles } from '../../shared/statistics.js';
import { ISOLATION_ROWS } from '../bench-flags.js';
import { KINDS } from '../scenarios/isolation.js';
import type { BesideRun, OthersWindow } from '../scenarios/neighbors.js';
import { RETRY_KINDS } from '../scenarios/punctuality.js';
import { STAGES } from '../scenarios/stages.js';
import type { SavedResults } from './saved-results.js';

const PAGE = 'docs/isolation.md';
const PICTURE = 'isolation';

/** Replaces the results in docs/isolation.md, and their picture; the text around them is left alone. */
export async function writeIsolationPage({
  machine,
  inputs,
  isolation,
  punctuality,
  stages,
}: SavedResults): Promise<void> {
  const facts = bulletList([machine]);
  await writeSection(
    'isolation',
    [bulletList([machine, ...inputs]), ...isolationSection(isolation)].join('\n\n'),
    PAGE,
  );
  await writeSection('punctuality', [facts, ...punctualitySection(punctuality)].join('\n\n'), PAGE);
  await writeSection('stages', [facts, ...stagesSection(stages)].join('\n\n'), PAGE);
  await writePicture(PICTURE, pictureOf(isolation));
}

const KIND_ORDER: readonly string[] = ISOLATION_ROWS;

export function isolationSection(runs: readonly BesideRun[]): string[] {
  const ordered = [...runs].sort((one, other) => orderOf(one) - orderOf(other) || one.neighbors - other.neighbors);
  const rows = ordered.map(({ kind, neighbors, aloneMs, besideMs, p99Ratio, aloneSpread, rateRatio, windows }) => [
    ...[titleOf(kind), String(neighbors), text(aloneMs), text(besideMs)],
    ...[p99Ratio.toFixed(2), aloneSpread.toFixed(2), rateRatio.toFixed(3)],
    windows === undefined ? '' : atNeighbors(windows.beside),
  ]);
  const head = [
    ...['neighbors', 'how many', 'the 100 alone: p50 / p99 ms', 'beside them'],
    ...['p99, ratio', 'p99 of the windows alone, largest to smallest', 'deliveries/s, ratio'],
    'at the neighbors: requests / 200s a second',
  ];
  return tableSection('100 healthy endpoints beside bad neighbors', [head, ...rows]);
}

function atNeighbors({ neighbors: { received, answered200 } }: OthersWindow): string {
  return `${received.toFixed(0)} / ${answered200.toFixed(0)}`;
}

function orderOf({ kind }: BesideRun): number {
  return KIND_ORDER.indexOf(kind);
}

function titleOf(kind: string): string {
  return KINDS[kind]?.title ?? kind;
}

function punctualitySection(runs: SavedResults['punctuality']): string[] {
  const rows = runs.map(({ kind, waiting, others, startedMs }) => [
    ...[RETRY_KINDS[kind]?.title ?? kind, counted(waiting), others === 0 ? 'alone' : String(others)],
    ...[counted(startedMs.count), ...[startedMs.p50, startedMs.p99, startedMs.most].map(counted)],
  ]);
  const head = ['endpoint', 'deliveries waiting', 'others like it', 'retries', 'p50 ms', 'p99 ms', 'largest ms'];
  return tableSection('Retries: start minus due time', [head, ...rows]);
}

function stagesSection(runs: SavedResults['stages']): string[] {
  const rows = runs.map(({ perSecond, stagesMs, eventToReceiptMs, totalMs }) => [
    ...[counted(perSecond), ...STAGES.map((stage) => text(stagesMs[stage]))],
    ...[text(eventToReceiptMs), text(totalMs)],
  ]);
  const head = ['pings/s', ...STAGES, 'event to receipt', 'ping to receipt'];
  return tableSection('From a ping to its receipt, by stage: p50 / p99 ms', [head, ...rows]);
}

function text({ p50, p99 }: Percentiles): string {
  return `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
}

export function pictureOf(runs: readonly BesideRun[]): string {
  const panels = KIND_ORDER.flatMap((kind) => {
    const ofKind = runs.filter((run) => run.kind === kind).sort((one, other) => one.neighbors - other.neighbors);
    return ofKind.length === 0 ? [] : [panelOf(kind, ofKind)];
  });
  return chartSvg(
    '100 healthy endpoints beside bad neighbors',
    'p99 from the commit of an event to the receipt of its webhook at the 100; the neighbors get a fifth of the deliveries',
    panels,
  );
}

function panelOf(kind: string, runs: readonly BesideRun[]): Panel {
  const alone = runs.reduce((total, { aloneMs }) => total + aloneMs.p99, 0) / runs.length;
  const bar = (name: string, value: number) => ({ name, value, text: milliseconds(value) });
  return {
    title: titleOf(kind),
    note: 'p99; the same as alone is best',
    bars: [
      bar('alone', alone),
      ...runs.map(({ neighbors, besideMs }) => bar(`beside ${String(neighbors)}`, besideMs.p99)),
    ],
  };
}
