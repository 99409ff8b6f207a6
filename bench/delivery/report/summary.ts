import { counted } from '../../shared/number-text.js';
import type { Figures } from './figures.js';
import { PEERS, type PeerFigures } from './peers.js';

/** One figure of ours and of the peers; null: not measured. */
export interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly ours: number | null;
  readonly peers: readonly (number | null)[];
  readonly isMoreBetter: boolean;
  readonly text: (value: number) => string;
}

function ms(value: number): string {
  return `${counted(value)} ms`;
}
function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
function ratio(value: number): string {
  return `${value.toFixed(2)}x`;
}
function perSecond(value: number): string {
  return `${counted(value)}/s`;
}

interface RowPlan {
  readonly title: string;
  readonly note: string;
  readonly ours: keyof Figures;
  readonly theirs: keyof PeerFigures | null;
  readonly text: (value: number) => string;
  readonly isMoreBetter?: boolean;
}

const ROWS: readonly RowPlan[] = [
  {
    title: 'Deliveries/s',
    note: 'healthy maximum, 100 endpoints',
    ours: 'deliveriesPerSecond',
    theirs: 'deliveriesPerSecond',
    text: perSecond,
    isMoreBetter: true,
  },
  {
    title: 'CPU time for 1,000',
    note: 'all parts, at the maximum',
    ours: 'cpuSecondsPer1000',
    theirs: 'cpuSecondsPer1000',
    text: (value) => `${value.toFixed(2)} s`,
  },
  { title: 'Latency p50', note: 'at half of it', ours: 'latencyP50Ms', theirs: 'latencyP50Ms', text: ms },
  { title: 'Latency p99', note: 'at half of it', ours: 'latencyP99Ms', theirs: 'latencyP99Ms', text: ms },
  { title: 'Latency p99.9', note: 'at half of it', ours: 'latencyP999Ms', theirs: null, text: ms },
  {
    title: 'Fan-out 1 x 10',
    note: 'deliveries/s',
    ours: 'fanOutPerSecond',
    theirs: 'fanOutPerSecond',
    text: perSecond,
    isMoreBetter: true,
  },
  {
    title: 'Every endpoint takes 200 ms',
    note: 'deliveries/s',
    ours: 'slowPerSecond',
    theirs: null,
    text: perSecond,
    isMoreBetter: true,
  },
  {
    title: 'Dead endpoint, 1 % of events',
    note: 'p99 of the others to healthy',
    ours: 'deadP99RatioOnePercent',
    theirs: 'deadP99RatioOnePercent',
    text: ratio,
  },
  {
    title: 'Dead endpoint, worst',
    note: 'also with 20 % of the events',
    ours: 'deadEndpointP99Ratio',
    theirs: null,
    text: ratio,
  },
  {
    title: 'Retry lateness p50',
    note: 'start minus due time',
    ours: 'retryLatenessP50Ms',
    theirs: 'retryLatenessP50Ms',
    text: ms,
  },
  {
    title: 'Retry lateness p99',
    note: 'start minus due time',
    ours: 'retryLatenessP99Ms',
    theirs: 'retryLatenessP99Ms',
    text: ms,
  },
  { title: 'kill -9: lost', note: 'accepted, never delivered', ours: 'lost', theirs: 'lost', text: plain },
  {
    title: 'kill -9: answered 200 twice',
    note: 'at each kill',
    ours: 'answeredTwicePerKill',
    theirs: 'answeredTwicePerKill',
    text: plain,
  },
  {
    title: 'kill -9: in flight again after',
    note: 'all of them',
    ours: 'againAfterKillMs',
    theirs: 'againAfterKillMs',
    text: ms,
  },
  {
    title: 'kill -9: 503 without exactly 5 attempts',
    note: 'of about 1,200',
    ours: 'wrongAttemptCounts',
    theirs: 'wrongAttemptCounts',
    text: plain,
  },
  {
    title: 'Backlog',
    note: 'deliveries/s from the first receipt',
    ours: 'backlogPerSecond',
    theirs: null,
    text: perSecond,
    isMoreBetter: true,
  },
  {
    title: 'Memory',
    note: 'of the server itself',
    ours: 'memoryMiB',
    theirs: 'memoryMiB',
    text: (value) => `${counted(value)} MiB`,
  },
];

export function summaryRows(figures: Figures): SummaryRow[] {
  return ROWS.map(({ title, note, ours, theirs, text, isMoreBetter = false }) => ({
    ...{ title, note, text, isMoreBetter },
    ours: figures[ours],
    peers: PEERS.map((peer) => (theirs === null ? null : (peer[theirs] as number | null))),
  })).filter((row) => row.ours !== null);
}
