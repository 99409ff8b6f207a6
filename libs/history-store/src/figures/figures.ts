import { addDurations, type DurationHistogram } from './duration-histogram.js';

/** What an attempt got, in the order in which they are stored. */
export const ATTEMPT_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'other', 'noResponse'] as const;
export type AttemptClass = (typeof ATTEMPT_CLASSES)[number];

/** The figures of some deliveries. All of them can be added. */
export interface Figures {
  /** Deliveries that have an attempt, whatever became of them. */
  started: number;
  delivered: number;
  /** Without those that expired. */
  failed: number;
  expired: number;
  /** Attempts after the first of their delivery; see `retryLateness`. */
  retries: number;
  probes: number;
  /** Attempts without probes, by ATTEMPT_CLASSES. */
  readonly attempts: number[];
  /** From the creation of a delivery to the end of its accepted attempt. */
  readonly latency: DurationHistogram;
  /** From the due time of a retry to its start. */
  readonly retryLateness: DurationHistogram;
}

export function noFigures(): Figures {
  return {
    ...{ started: 0, delivered: 0, failed: 0, expired: 0, retries: 0, probes: 0 },
    attempts: ATTEMPT_CLASSES.map(() => 0),
    latency: new Map(),
    retryLateness: new Map(),
  };
}

export function classOf(statusCode: number | null): AttemptClass {
  if (statusCode === null) return 'noResponse';
  const hundreds = Math.floor(statusCode / 100);
  return hundreds >= 2 && hundreds <= 5 ? (`${String(hundreds)}xx` as AttemptClass) : 'other';
}

export function addFigures(to: Figures, other: Figures): void {
  to.started += other.started;
  to.delivered += other.delivered;
  to.failed += other.failed;
  to.expired += other.expired;
  to.retries += other.retries;
  to.probes += other.probes;
  for (const [index, count] of other.attempts.entries()) to.attempts[index] = (to.attempts[index] ?? 0) + count;
  for (const [bucket, count] of other.latency) addDurations(to.latency, bucket, count);
  for (const [bucket, count] of other.retryLateness) addDurations(to.retryLateness, bucket, count);
}

/** Figures in a row: values by position, as with the attempts of a delivery. Histograms are `[bucket, count, ...]`. */
type PackedFigures = readonly [
  started: number,
  delivered: number,
  failed: number,
  expired: number,
  retries: number,
  probes: number,
  attempts: readonly number[],
  latency: readonly number[],
  retryLateness: readonly number[],
];

export function packFigures(figures: Figures): string {
  const { started, delivered, failed, expired, retries, probes, attempts, latency, retryLateness } = figures;
  const packed: PackedFigures = [
    ...([started, delivered, failed, expired, retries, probes] as const),
    ...([attempts, [...latency].flat(), [...retryLateness].flat()] as const),
  ];
  return JSON.stringify(packed);
}

/** @param text of several `packFigures`, in the brackets of an array */
export function addPackedFigures(to: Figures, text: string): void {
  for (const packed of JSON.parse(text) as PackedFigures[]) {
    const [started, delivered, failed, expired, retries, probes, attempts, latency, retryLateness] = packed;
    to.started += started;
    to.delivered += delivered;
    to.failed += failed;
    to.expired += expired;
    to.retries += retries;
    to.probes += probes;
    for (const [index, count] of attempts.entries()) to.attempts[index] = (to.attempts[index] ?? 0) + count;
    addPairs(to.latency, latency);
    addPairs(to.retryLateness, retryLateness);
  }
}

function addPairs(to: DurationHistogram, pairs: readonly number[]): void {
  for (let index = 0; index < pairs.length; index += 2) addDurations(to, pairs[index] ?? 0, pairs[index + 1] ?? 0);
}
