import { chartSvg, type Panel } from '../../shared/report/chart.js';
import { bulletList, tableSection, writePicture, writeResult } from '../../shared/report/docs-section.js';
import { machineText, readMachine } from '../../shared/report/machine.js';
import { counted } from '../../shared/report/number-text.js';
import { PARTITIONS } from '../../shared/stack/bench-stack.js';
import type { Percentiles } from '../../shared/statistics.js';
import type { BenchFlags } from '../bench-flags.js';
import type { BenchResults } from '../measure-all.js';
import { ENDPOINTS } from '../stack/subscribers.js';
import { PARTS } from '../stack/system.js';
import { figuresOf } from './figures.js';
import { writeIsolationPage } from './isolation-page.js';
import { RESULT_FILES, save } from './saved-results.js';
import { PEERS, type SummaryRow, summaryRows } from './summary.js';

/** Everything as Markdown: the comparison, where the CPU time goes, dead endpoints, kill -9. */
export function reportMarkdown(results: BenchResults, machine: readonly string[]): string {
  return [
    bulletList(machine),
    ...tableSection('Beside other servers', comparison(results)),
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
  return [['figure', 'Waypost', ...PEERS], ...rows];
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
  return tableSection('CPU seconds for 1,000 deliveries', [['part', 'CPU s', 'peak MiB'], ...rows]);
}

function deadSection({ dead }: BenchResults): string[] {
  if (dead.length === 0) return [];
  const text = ({ p50, p99 }: Percentiles): string => `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
  const rows = dead.map(({ kind, share, perSecond, aloneMs, besideMs, p99Ratio, aloneSpread, rateRatio }) => [
    kind === 'silent' ? 'takes the request, never answers' : 'refuses connections',
    `${String(share * 100)} % of ${counted(perSecond)}/s`,
    text(aloneMs),
    text(besideMs),
    p99Ratio.toFixed(2),
    aloneSpread.toFixed(2),
    rateRatio.toFixed(3),
  ]);
  const head = [
    'the dead one beside 100',
    'its events',
    'others, it is healthy: p50 / p99 ms',
    'it is dead',
    'p99 ratio',
    'healthy windows, largest to smallest p99',
    'rate, ratio',
  ];
  return tableSection('One dead endpoint', [head, ...rows]);
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
  return tableSection('kill -9 of the sender', [['', 'Waypost'], ...rows]);
}

/** Replaces the result in docs/benchmarks.md, with its picture, if the maximum was measured; else that stays. */
export async function writeDocs(flags: BenchFlags, results: BenchResults): Promise<void> {
  await writeIsolationPage(await save(RESULT_FILES.docs, results));
  if (results.healthy === null) return;
  await writeResult('delivery', reportMarkdown(results, runFacts(flags, results)));
  await writePicture('delivery', pictureOf(results));
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
  const known = PEERS.flatMap((name, index) => {
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

function runFacts(flags: BenchFlags, { capacity, healthy }: BenchResults): string[] {
  const instances = flags.instances === 1 ? 'one process' : `${String(flags.instances)} processes`;
  return [
    machineText(readMachine()),
    `webhook-delivery in ${instances}, ${String(PARTITIONS)} partitions, ${String(ENDPOINTS)} endpoints on ${String(ENDPOINTS)} ports, body of 1 KB, both signatures, history-projector running`,
    ...(capacity === null
      ? []
      : [
          `alone the sink answers ${counted(capacity.postsPerSecond)} POSTs/s and the load generator commits ${counted(capacity.eventsPerSecond)} events/s`,
        ]),
    ...(healthy === null
      ? []
      : [`other programs used ${healthy.foreignCores.toFixed(2)} cores while the maximum was measured`]),
  ];
}
