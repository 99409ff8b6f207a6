import { bulletList, tableSection, writeResult } from '../../shared/report/docs-section.js';
import { machineText, readMachine } from '../../shared/report/machine.js';
import { counted, milliseconds, perSecond } from '../../shared/report/number-text.js';
import type { BenchFlags } from '../bench-flags.js';
import { FLEETS } from '../load/fleets.js';
import type { BenchResults } from '../measure-all.js';
import { EMPTY_FLEET, FAR_PAGE, FIRST_PAGE, THREE_FILTERS } from '../scenarios/page-shapes.js';
import type { PageRun } from '../scenarios/pages.js';
import { TUNING } from '../stack/history-stack.js';
import { BATCH_SIZE, PARTITIONS } from '../workers/projector.js';
import { runOf, worstFilter } from './figures.js';

/** Everything as Markdown: the targets and pages. */
export function reportText(flags: BenchFlags, results: BenchResults): string {
  return [
    bulletList(runFacts(flags, results)),
    ...tableSection('Beside the targets', targetRows(results)),
    ...tableSection('Pages of 100, with nothing beside them and while the projection runs', pageRows(results)),
    ...tableSection('Figures of the largest fleet, and of all by fleet, without HTTP', figureRows(results)),
  ].join('\n\n');
}

function ms(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : milliseconds(value);
}
function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

function targetRows({ fill, size, plans, pages, retention }: BenchResults): string[][] {
  const worst = worstFilter(pages.pages);
  const { beforeMs, duringMs } = retention;
  return [
    ['figure', 'measured', 'target'],
    ['Page without a filter, p99, nothing beside it', ms(runOf(pages.idle, FIRST_PAGE).ms.p99), 'less than 10 ms'],
    ['The same while the projection runs', ms(runOf(pages.pages, FIRST_PAGE).ms.p99), 'less than 25 ms'],
    ['Page 1,000 of the largest fleet, p99', ms(runOf(pages.pages, FAR_PAGE).ms.p99), 'less than 25 ms'],
    [`Worst filter or pair, p99 (${worst.name})`, ms(worst.ms.p99), 'less than 25 ms'],
    ['A fleet with nothing, p99', ms(runOf(pages.pages, EMPTY_FLEET).ms.p99), 'less than 25 ms'],
    ['Projected attempts', perSecond(fill.attemptsPerSecond), 'at least 20,000/s'],
    [
      `A day of ${counted(retention.deliveries)} deliveries leaves the history: no longer visible`,
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
  const row = ({ name, ms: took, rows, waitedShare }: PageRun): string[] => {
    const alone = runOf(pages.idle, name);
    return [
      name,
      ...[alone.ms.p50, alone.ms.p99, took.p50, took.p99, took.most].map((value) => value.toFixed(1)),
      `${(alone.waitedShare * 100).toFixed(0)} %, ${(waitedShare * 100).toFixed(0)} %`,
      counted(rows),
    ];
  };
  return [
    ['filter', 'alone: p50 ms', 'p99 ms', 'beside: p50 ms', 'p99 ms', 'slowest ms', 'waited for a processor', 'rows'],
    ...pages.pages.filter(({ name }) => !name.includes(' + ') || name === THREE_FILTERS).map(row),
  ];
}

function figureRows({ figures }: BenchResults): string[][] {
  return [
    ['window', 'step', 'split by', 'p50 ms', 'p99 ms', 'kB'],
    ...figures.map(({ window, step, groupBy, ms: took, kilobytes }) => [
      window,
      step,
      groupBy,
      took.p50.toFixed(1),
      took.p99.toFixed(1),
      counted(kilobytes),
    ]),
  ];
}

/** What a reader must know to judge the figures. */
function runFacts({ pages }: BenchFlags, { fill, size }: BenchResults): string[] {
  const settings = Object.entries(TUNING).map((pair) => `\`${pair.join('=')}\``);
  return [
    machineText(readMachine()),
    `${counted(size.deliveries)} deliveries of 15 days and ${String(FLEETS)} fleets, the largest with 15 % of them; ${counted(fill.attempts)} attempts`,
    `projected by one process, ${String(PARTITIONS)} partitions in turn, up to ${counted(BATCH_SIZE)} attempts in a transaction`,
    `${String(pages)} pages of each kind; PostgreSQL with ${settings.join(', ')}`,
  ];
}

/** Replaces the result in docs/benchmarks.md; the text around it stays. */
export async function writeDocs(flags: BenchFlags, results: BenchResults): Promise<void> {
  await writeResult('history', reportText(flags, results), results);
}
