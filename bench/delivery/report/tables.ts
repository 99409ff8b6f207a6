import { counted } from '../../shared/number-text.js';
import type { Percentiles } from '../../shared/statistics.js';
import type { BenchResults } from '../bench-results.js';
import { PARTS } from '../stack/system.js';
import { figuresOf } from './figures.js';
import { PEERS } from './peers.js';
import { summaryRows } from './summary.js';

/** Everything as Markdown: the comparison, where the CPU time goes, isolation, kill -9. */
export function reportMarkdown(results: BenchResults, machine: readonly string[]): string {
  return [
    machine.map((line) => `- ${line}`).join('\n'),
    ...section('Beside other servers', comparison(results)),
    ...cpuSection(results),
    ...deadSection(results),
    ...killSection(results),
  ].join('\n\n');
}

function comparison(results: BenchResults): string[][] {
  const cell = (value: number | null, text: (value: number) => string): string => (value === null ? '' : text(value));
  const rows = summaryRows(figuresOf(results)).map(({ title, note, ours, peers, text }) => [
    `${title} (${note})`,
    cell(ours, text),
    ...peers.map((value) => cell(value, text)),
  ]);
  return [['figure', 'Waypost', ...PEERS.map(({ name }) => name)], ...rows];
}

function cpuSection({ healthy, latency, failing }: BenchResults): string[] {
  if (healthy === null) return [];
  const parts = PARTS.map((part) => [part, healthy.cpuPer1000ByPart[part].toFixed(3), counted(healthy.peakMiB[part])]);
  const rows = [
    ...parts,
    ['all of these', healthy.cpuPer1000.toFixed(3), ''],
    ...(latency === null ? [] : [['all, at half of the maximum', latency.cpuPer1000.toFixed(3), '']]),
    ...(failing === null
      ? []
      : [['all, of 1,000 attempts while 30 % fail', failing.cpuPer1000Attempts.toFixed(3), '']]),
    ['beside them: load generator', healthy.harnessCpuPer1000.load.toFixed(3), ''],
    ['beside them: sink', healthy.harnessCpuPer1000.sink.toFixed(3), ''],
  ];
  return section('CPU seconds for 1,000 deliveries', [['part', 'CPU s', 'peak MiB'], ...rows]);
}

function deadSection({ dead }: BenchResults): string[] {
  if (dead.length === 0) return [];
  const text = ({ p50, p99 }: Percentiles): string => `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
  const rows = dead.map(({ kind, share, perSecond, healthyMs, deadMs, p99Ratio, healthySpread, rateRatio }) => [
    kind === 'silent' ? 'takes the request, never answers' : 'refuses connections',
    `${String(share * 100)} % of ${counted(perSecond)}/s`,
    text(healthyMs),
    text(deadMs),
    p99Ratio.toFixed(2),
    healthySpread.toFixed(2),
    rateRatio.toFixed(3),
  ]);
  const head = [
    'the dead one of 100',
    'its events',
    'others, it is healthy: p50 / p99 ms',
    'it is dead',
    'p99 ratio',
    'healthy windows, largest to smallest p99',
    'arrived, ratio',
  ];
  return section('One dead endpoint', [head, ...rows]);
}

function killSection({ kill }: BenchResults): string[] {
  if (kill === null) return [];
  const { failing, againAfterMs, latenessAcrossMs } = kill;
  const rows = [
    ['lost', `${String(kill.lost)} of ${counted(kill.accepted)}`],
    ['answered 200 twice, by kill', kill.answeredTwice.join(', ')],
    ['in flight at the kill', kill.inFlight.join(', ')],
    ['in flight again after: p50 / most', `${counted(againAfterMs.p50)} / ${counted(againAfterMs.most)} ms`],
    ['503: not received exactly 5 times', `${String(failing.wrongCounts)} of ${counted(failing.deliveries)}`],
    ['503: attempt numbers other than 1 to 5', String(failing.wrongNumbers)],
    [
      'retries across a kill, lateness p50 / most',
      `${counted(latenessAcrossMs.p50)} / ${counted(latenessAcrossMs.most)} ms`,
    ],
  ];
  return section('kill -9 of the sender', [['', 'Waypost'], ...rows]);
}

function section(title: string, [head = [], ...rows]: readonly string[][]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [`### ${title}`, [line(head), line(rule), ...rows.map(line)].join('\n')];
}
