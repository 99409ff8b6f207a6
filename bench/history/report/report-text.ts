import { machineText, readMachine } from '../../shared/machine.js';
import { counted } from '../../shared/number-text.js';
import type { Percentiles } from '../../shared/statistics.js';
import type { BenchResults } from '../bench-results.js';
import type { BenchFlags } from '../bench-flags.js';
import { FLEETS } from '../load/fleets.js';
import { EMPTY_FLEET, FAR_PAGE, FIRST_PAGE } from '../scenarios/page-shapes.js';
import type { PageRun } from '../scenarios/pages.js';
import { TUNING } from '../stack/history-stack.js';
import { runOf, worstFilter } from './figures.js';

/** Everything as Markdown: the targets, projection, pages, room, retention, the naive table. */
export function reportText(flags: BenchFlags, results: BenchResults): string {
  return [
    runFacts(flags, results)
      .map((line) => `- ${line}`)
      .join('\n'),
    ...section('Beside the targets', targetRows(results)),
    ...section('Pages of 100 while the projection goes on', pageRows(results)),
    ...section('Projection', projectionRows(results)),
    ...section('Room', roomRows(results)),
    ...naiveSection(results),
  ].join('\n\n');
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : counted(value)} ms`;
}
function micros(value: number): string {
  return `${value.toFixed(1)} µs`;
}
function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
function perSecond(value: number): string {
  return `${counted(value)}/s`;
}

function targetRows({ fill, size, plans, pages, retention }: BenchResults): string[][] {
  const worst = worstFilter(pages.pages);
  const { beforeMs, duringMs } = retention;
  return [
    ['figure', 'measured', 'wanted'],
    ['Page without a filter, p99', ms(runOf(pages.pages, FIRST_PAGE).ms.p99), 'less than 25 ms'],
    ['Page 1,000 of the largest fleet, p99', ms(runOf(pages.pages, FAR_PAGE).ms.p99), 'less than 25 ms'],
    [`Worst filter or pair, p99 (${worst.name})`, ms(worst.ms.p99), 'less than 25 ms'],
    ['A fleet with nothing, p99', ms(runOf(pages.pages, EMPTY_FLEET).ms.p99), 'less than 25 ms'],
    ['Projected attempts', perSecond(fill.attemptsPerSecond), 'at least 20,000/s'],
    [
      `A day of ${counted(retention.deliveries)} deliveries leaves the history: gone for everybody`,
      ms(retention.dropDayMs),
      'less than 100 ms',
    ],
    [`The same, until its ${gigabytes(retention.bytes)} on the disk are free again`, ms(retention.spaceFreedMs), ''],
    [
      `Pages of four readers, p99 (slowest): before, and from then on until a second later`,
      `${ms(beforeMs.p99)} (${ms(beforeMs.most)}), ${ms(duringMs.p99)} (${ms(duringMs.most)})`,
      'not blocked',
    ],
    ['A delivery with its indexes', `${counted(size.bytesPerDelivery)} bytes`, ''],
    [
      `Plans that read other days, no index, or more than the page`,
      `${String(plans.faults.length)} of ${counted(plans.checked)}`,
      '0',
    ],
  ];
}

function pageRows({ pages }: BenchResults): string[][] {
  const row = ({ name, ms: took, rows }: PageRun): string[] => [
    name,
    took.p50.toFixed(1),
    took.p99.toFixed(1),
    took.most.toFixed(1),
    counted(rows),
  ];
  return [['asked for', 'p50 ms', 'p99 ms', 'slowest ms', 'rows'], ...pages.pages.map(row)];
}

function projectionRows({ fill, pages }: BenchResults): string[][] {
  return [
    ['', 'projection'],
    ['attempts/s, all of it', perSecond(fill.attemptsPerSecond)],
    ['attempts/s, the last million', perSecond(fill.lastPerSecond)],
    ['attempts/s while pages are read one after the other', perSecond(pages.projectedPerSecond)],
    ['attempts in a transaction', counted(fill.attemptsPerTransaction)],
    ['CPU of the projecting process for an attempt', micros(fill.projectorCpuUs)],
    ['of it, making up the attempts', micros(fill.loadCpuUs)],
    ['CPU of PostgreSQL for an attempt', micros(fill.postgresCpuUs)],
  ];
}

function roomRows({ size }: BenchResults): string[][] {
  const bytes = (value: number): string => value.toFixed(0);
  return [
    ['', 'bytes a delivery'],
    ['table', bytes(size.tableBytesPerDelivery)],
    ...size.indexes.map(({ name, bytesPerDelivery }) => [name, bytes(bytesPerDelivery)]),
    ['all', bytes(size.bytesPerDelivery)],
  ];
}

function naiveSection({ naive, retention, size }: BenchResults): string[] {
  if (naive === null) return [];
  const text = ({ p50, most }: Percentiles): string => `${ms(p50)} / ${ms(most)}`;
  const rows = naive.pages.map(({ name, oursMs, naiveMs }) => [name, text(oursMs), text(naiveMs)]);
  return section(`Beside one table with OFFSET, ${counted(naive.rows)} rows, p50 / slowest`, [
    ['', 'Waypost', 'naive'],
    ...rows,
    [
      `a day goes, with its room (${counted(retention.deliveries)} rows, ${counted(naive.deletedRows)} rows)`,
      ms(retention.spaceFreedMs),
      ms(naive.deleteDayMs),
    ],
    ['bytes a delivery', counted(size.bytesPerDelivery), counted(naive.bytesPerDelivery)],
  ]);
}

function section(title: string, [head = [], ...rows]: readonly string[][]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [`### ${title}`, [line(head), line(rule), ...rows.map(line)].join('\n')];
}

/** What a reader must know to judge the figures. */
export function runFacts({ partitions, batchSize, pages }: BenchFlags, { fill, size }: BenchResults): string[] {
  const settings = Object.entries(TUNING).map((pair) => `\`${pair.join('=')}\``);
  return [
    machineText(readMachine()),
    `${counted(size.deliveries)} deliveries of 15 days and ${String(FLEETS)} fleets, the largest with 15 % of them; ${counted(fill.attempts)} attempts`,
    `projected by one process, ${String(partitions)} partitions in turn, up to ${counted(batchSize)} attempts in a transaction`,
    `${String(pages)} pages of each kind; PostgreSQL with ${settings.join(', ')}`,
  ];
}
