import { counted, milliseconds, perSecond, times } from '../../shared/report/number-text.js';
import type { Figures } from './figures.js';

/** One figure of ours and of the peers; null: not measured. */
export interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly ours: number | null;
  readonly peers: readonly (number | null)[];
  readonly isMoreBetter: boolean;
  readonly text: (value: number) => string;
}

/**
 * Medians of one to three runs each on another machine of the same size (2 cores, 24 GiB), each server in the best of the
 * configurations that were tried. They were not run again with the figures beside them.
 */
export const PEERS = ['Svix 1.100.0', 'Outpost 1.2.0', 'Convoy 26.3.6'] as const;

type RowPlan = Omit<SummaryRow, 'ours'> & { readonly figure: keyof Figures };
type Texts = readonly [title: string, note: string];
type OfPeers = readonly [svix: number | null, outpost: number | null, convoy: number | null];
const NOT_MEASURED: OfPeers = [null, null, null];

function less(figure: keyof Figures, text: RowPlan['text'], [title, note]: Texts, peers = NOT_MEASURED): RowPlan {
  return { title, note, figure, text, peers, isMoreBetter: false };
}
function more(figure: keyof Figures, text: RowPlan['text'], texts: Texts, peers = NOT_MEASURED): RowPlan {
  return { ...less(figure, text, texts, peers), isMoreBetter: true };
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

const ROWS: readonly RowPlan[] = [
  more('deliveriesPerSecond', perSecond, ['Deliveries/s', 'healthy maximum, 100 endpoints'], [725, 1_047, 107]),
  less(
    'cpuSecondsPer1000',
    (value) => `${value.toFixed(2)} s`,
    ['CPU time for 1,000', 'all parts, at the maximum'],
    [2.3, 1.37, 17.2],
  ),
  less('latencyP50Ms', milliseconds, ['Latency p50', 'at half of it'], [6, 39, 1_517]),
  less('latencyP99Ms', milliseconds, ['Latency p99', 'at half of it'], [66, 102, 2_628]),
  less('latencyP999Ms', milliseconds, ['Latency p99.9', 'at half of it']),
  more('fanOutPerSecond', perSecond, ['Fan-out 1 x 10', 'deliveries/s'], [1_884, 1_238, 47]),
  more('slowPerSecond', perSecond, ['Every endpoint takes 200 ms', 'deliveries/s']),
  less(
    'deadP99RatioOnePercent',
    times,
    ['Dead endpoint, 1 % of events', 'p99 of the others to healthy'],
    [5, 1.33, 1.06],
  ),
  less('deadEndpointP99Ratio', times, ['Dead endpoint, worst', 'also with 20 % of the events']),
  less('retryLatenessP50Ms', milliseconds, ['Retry lateness p50', 'start minus due time'], [640, 29, 5_000]),
  less('retryLatenessP99Ms', milliseconds, ['Retry lateness p99', 'start minus due time'], [1_140, 74, null]),
  less('lost', plain, ['kill -9: lost', 'accepted, never delivered'], [0, 0, null]),
  less('answeredTwicePerKill', plain, ['kill -9: answered 200 twice', 'at each kill'], [16.5, 15.5, null]),
  less('againAfterKillMs', milliseconds, ['kill -9: in flight again after', 'all of them'], [45_000, 5_500, null]),
  less('wrongAttemptCounts', plain, ['kill -9: 503 without exactly 5 attempts', 'of about 1,200'], [0, 14, null]),
  more('backlogPerSecond', perSecond, ['Backlog', 'deliveries/s from the first receipt']),
  less('memoryMiB', (value) => `${counted(value)} MiB`, ['Memory', 'of the server itself'], [90, 167, 244]),
];

export function summaryRows(figures: Figures): SummaryRow[] {
  return ROWS.map(({ figure, ...row }) => ({ ...row, ours: figures[figure] })).filter(({ ours }) => ours !== null);
}
