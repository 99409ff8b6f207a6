import { counted, milliseconds, perSecond, times } from '../../shared/report/number-text.js';
import type { Figures } from './figures.js';
import { type PeerFigures, PEERS } from './peers.js';

/** One figure of ours and of the peers; null: not measured. */
export interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly ours: number | null;
  readonly peers: readonly (number | null)[];
  readonly isMoreBetter: boolean;
  readonly text: (value: number) => string;
}

interface RowPlan extends Pick<SummaryRow, 'title' | 'note' | 'text' | 'isMoreBetter'> {
  readonly figure: keyof Figures;
}

type Texts = readonly [title: string, note: string];

function less(figure: keyof Figures, text: (value: number) => string, [title, note]: Texts): RowPlan {
  return { title, note, figure, text, isMoreBetter: false };
}
function more(figure: keyof Figures, text: (value: number) => string, [title, note]: Texts): RowPlan {
  return { title, note, figure, text, isMoreBetter: true };
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

const ROWS: readonly RowPlan[] = [
  more('deliveriesPerSecond', perSecond, ['Deliveries/s', 'healthy maximum, 100 endpoints']),
  less('cpuSecondsPer1000', (value) => `${value.toFixed(2)} s`, ['CPU time for 1,000', 'all parts, at the maximum']),
  less('latencyP50Ms', milliseconds, ['Latency p50', 'at half of it']),
  less('latencyP99Ms', milliseconds, ['Latency p99', 'at half of it']),
  less('latencyP999Ms', milliseconds, ['Latency p99.9', 'at half of it']),
  more('fanOutPerSecond', perSecond, ['Fan-out 1 x 10', 'deliveries/s']),
  more('slowPerSecond', perSecond, ['Every endpoint takes 200 ms', 'deliveries/s']),
  less('deadP99RatioOnePercent', times, ['Dead endpoint, 1 % of events', 'p99 of the others to healthy']),
  less('deadEndpointP99Ratio', times, ['Dead endpoint, worst', 'also with 20 % of the events']),
  less('retryLatenessP50Ms', milliseconds, ['Retry lateness p50', 'start minus due time']),
  less('retryLatenessP99Ms', milliseconds, ['Retry lateness p99', 'start minus due time']),
  less('lost', plain, ['kill -9: lost', 'accepted, never delivered']),
  less('answeredTwicePerKill', plain, ['kill -9: answered 200 twice', 'at each kill']),
  less('againAfterKillMs', milliseconds, ['kill -9: in flight again after', 'all of them']),
  less('wrongAttemptCounts', plain, ['kill -9: 503 without exactly 5 attempts', 'of about 1,200']),
  more('backlogPerSecond', perSecond, ['Backlog', 'deliveries/s from the first receipt']),
  less('memoryMiB', (value) => `${counted(value)} MiB`, ['Memory', 'of the server itself']),
];

export function summaryRows(figures: Figures): SummaryRow[] {
  return ROWS.map(({ figure, ...row }) => ({
    ...row,
    ours: figures[figure],
    peers: PEERS.map((peer) => (figure in peer ? (peer[figure as keyof PeerFigures] as number | null) : null)),
  })).filter((row) => row.ours !== null);
}
