import { chartSvg } from '../../shared/report/chart.js';
import { bulletList, tableSection, writePicture, writeResult } from '../../shared/report/docs-section.js';
import { counted, milliseconds, seconds, thousands, times } from '../../shared/report/number-text.js';
import { summarize } from '../../shared/statistics.js';
import type { BenchResults } from '../measure-all.js';
import { type DrainRun, perCpuSecond, perSecond } from '../scenarios/drain.js';
import type { FailoverRun } from '../scenarios/failover.js';
import { GEOFENCES_PER_FLEET } from '../scenarios/geofences.js';
import type { PartitionsRun } from '../scenarios/partitions.js';
import { byConfiguration, type Figures, figuresOf, type Pair, ratioOf } from './figures.js';

/** Everything as Markdown: the comparison, and each configuration with median and spread. */
export function reportMarkdown(results: BenchResults, figures: Figures): string {
  const { drain, failover } = results;
  return [
    machineText(results),
    ...tableSection('Best against best', comparison(figures)),
    ...(drain.length === 0 ? [] : tableSection('Drained backlog', drainTable(drain))),
    ...(failover.length === 0 ? [] : tableSection('kill -9 in the middle of the backlog', failoverTable(failover))),
  ].join('\n\n');
}

function machineFactsOf({
  cpu,
  cores,
  memoryGiB,
  system,
  node,
  java,
  broker,
  kafkaStreams,
}: BenchResults['machine']): string[] {
  return [
    `${cpu}, ${String(cores)} cores, ${String(memoryGiB)} GiB, ${system}`,
    `Node ${node}, Java ${java}, broker Kafka ${broker}, Kafka Streams ${kafkaStreams}`,
  ];
}

export function machineText({ machine, backlog, rounds, expected }: BenchResults): string {
  const facts = [
    ...machineFactsOf(machine),
    `${counted(backlog.pings)} pings of ${counted(backlog.devices)} devices, 4 partitions, ${rounds === 1 ? 'one round' : `${String(rounds)} rounds`}`,
    ...(expected === null ? [] : [`answer of all runs: ${counted(expected.events)} events, hash ${expected.hash}`]),
  ];
  return bulletList(facts);
}

/** One line of the comparison, each side in its best configuration for that figure. */
interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly pair: Pair;
  readonly text: (value: number) => string;
}

function row(pair: Pair, text: (value: number) => string, title: string, note: string): SummaryRow {
  return { title, note, pair, text };
}

/** Figures that were not measured are left out. */
function summaryRows(figures: Figures): SummaryRow[] {
  const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`;
  const rows = [
    row(figures.recordsPerSecond, thousands, 'Records/s', 'drained backlog; more is better'),
    row(figures.recordsPerCpuSecond, thousands, 'Records per CPU second', 'drained backlog; more is better'),
    row(figures.peakMiB, mebibytes, 'Peak memory', 'drained backlog; less is better'),
    row(figures.latencyP99Ms, milliseconds, 'Latency p99', '2,000 pings/s; less is better'),
    ...figures.restore.map(({ devices, devicesPerSecond }) =>
      row(devicesPerSecond, thousands, 'Restored devices/s', `state of ${counted(devices)}; more is better`),
    ),
    row(figures.restartMs, seconds, 'Restart after kill -9', 'until all partitions go on; less is better'),
    row(figures.takeoverMs, seconds, 'Takeover after kill -9', 'until all partitions go on; less is better'),
  ];
  return rows.filter(({ pair }) => pair.ours !== null && pair.theirs !== null);
}

function comparison(figures: Figures): string[][] {
  const rows = summaryRows(figures).map(({ title, note, pair, text }) => [
    `${title} (${note})`,
    text(pair.ours ?? 0),
    text(pair.theirs ?? 0),
    times(ratioOf(pair) ?? NaN),
  ]);
  return [['figure', 'Waypost', 'Kafka Streams', 'ratio'], ...rows];
}

function drainTable(runs: readonly DrainRun[]): string[][] {
  const perMillion = (value: (run: DrainRun) => number) => (run: DrainRun) => (value(run) / run.records) * 1e6;
  const head = [
    'configuration',
    'records/s from start',
    'from the first commit',
    'records per CPU s',
    'CPU s per million',
    'broker CPU s per million',
    'peak MiB',
  ];
  return tableOf(head, runs, [
    [perSecond, thousands],
    [(run) => run.streamingPerSecond, thousands],
    [perCpuSecond, thousands],
    [perMillion((run) => run.cpuSeconds), (value) => value.toFixed(2)],
    [perMillion((run) => run.brokerCpuSeconds), (value) => value.toFixed(2)],
    [(run) => run.peakMiB, counted],
  ]);
}

function failoverTable(runs: readonly FailoverRun[]): string[][] {
  const kinds = ['restart', 'takeover'] as const;
  const [head = []] = tableOf(['', 'first commit', 'every partition'], [], []);
  const rows = kinds.flatMap((kind) => {
    const same = runs.filter((run) => run.kind === kind);
    const [, ...lines] = tableOf(head, same, [
      [(run) => run.firstCommitMs, seconds],
      [(run) => run.allPartitionsMs, seconds],
    ]);
    return lines.map(([label = '', ...cells]) => [`${kind}: ${label}`, ...cells]);
  });
  return [head, ...rows];
}

type Column<T> = readonly [value: (run: T) => number, text: (value: number) => string];

/** A row for each configuration: the median, and the spread when there is more than one run. */
function tableOf<T extends DrainRun | FailoverRun | PartitionsRun>(
  head: string[],
  runs: readonly T[],
  columns: readonly Column<T>[],
): string[][] {
  const rows = byConfiguration(runs).map((same) => [
    same[0]?.configuration.label ?? '',
    ...columns.map(([value, text]) => cell(same.map(value), text)),
  ]);
  return [head, ...rows];
}

function cell(values: readonly number[], text: (value: number) => string): string {
  const { median, least, most } = summarize(values);
  return values.length === 1 ? text(median) : `${text(median)} (${text(least)} - ${text(most)})`;
}

/** What all rules cost, as Markdown; null: not measured. */
export function rulesMarkdown(results: BenchResults, { rules }: Figures): string | null {
  if (rules === null) return null;
  const { ofUnasked, ofPositions } = rules;
  const events = results.rules.map(({ answer }) => answer.events);
  return [
    machineText({ ...results, expected: results.rulesExpected }),
    ...tableSection('All rules', drainTable(results.rules)),
    [
      `Best against best, with routes and ${counted(GEOFENCES_PER_FLEET)} geofences per fleet it keeps ${speedText(ofUnasked)} of what it does`,
      `while no fleet asks for either, and writes ${counted(Math.max(...events))} events instead of ${counted(Math.min(...events))}.`,
      `Of positions alone it keeps ${speedText(ofPositions)}.`,
    ].join(' '),
  ].join('\n\n');
}

/** A trickle on many partitions, as Markdown; null: not measured. */
export function partitionsMarkdown({
  machine,
  partitions,
}: Pick<BenchResults, 'machine' | 'partitions'>): string | null {
  if (partitions.length === 0) return null;
  const head = [
    'configuration',
    'commits/s',
    'broker CPU s per million',
    'CPU s per million',
    'p50',
    'p99',
    'caught up after',
    'peak MiB',
  ];
  const table = tableOf(head, partitions, [
    [(run) => run.commitsPerSecond, counted],
    [(run) => run.brokerCpuPerMillion, (value) => value.toFixed(1)],
    [(run) => run.cpuPerMillion, (value) => value.toFixed(1)],
    [(run) => run.p50Ms, milliseconds],
    [(run) => run.p99Ms, milliseconds],
    [(run) => run.startUpMs, seconds],
    [(run) => run.peakMiB, counted],
  ]);
  return [bulletList(machineFactsOf(machine)), ...tableSection('A trickle on many partitions', table)].join('\n\n');
}

function speedText({ recordsPerSecond, recordsPerCpuSecond }: NonNullable<Figures['rules']>['ofUnasked']): string {
  return `${percent(recordsPerSecond)} of the records/s and ${percent(recordsPerCpuSecond)} of the records per CPU second`;
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)} %`;
}

/** Replaces what was measured in docs/benchmarks.md, and its picture; the text around it stays. */
export async function writeDocs(results: BenchResults): Promise<void> {
  const figures = figuresOf(results);
  const rules = rulesMarkdown(results, figures);
  if (rules !== null) await writeResult('rules', rules, results.rules);
  const partitions = partitionsMarkdown(results);
  if (partitions !== null) await writeResult('partitions', partitions, results.partitions);
  if (!isBesidePeer(results)) return;
  await writeResult('processor', reportMarkdown(results, figures), results);
  await writePicture('processor', pictureOf(results, figures));
}

function isBesidePeer({ drain, latency, restore, failover }: BenchResults): boolean {
  return [drain, latency, restore, failover].some((runs) => runs.length > 0);
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
