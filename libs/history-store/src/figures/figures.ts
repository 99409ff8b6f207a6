import { countsOf, type DurationCounts, type DurationHistogram } from './duration-histogram.js';

/** Results of attempts, in stored order. */
export const ATTEMPT_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'other', 'noResponse'] as const;
export type AttemptClass = (typeof ATTEMPT_CLASSES)[number];

/** The figures of some deliveries, all of which can be added up. */
export interface Figures {
  /** Deliveries with a record, whatever their result. */
  started: number;
  delivered: number;
  /** Excludes those that expired. */
  failed: number;
  expired: number;
  /** Attempts after the first of their delivery; see `retryLateness`. */
  retries: number;
  probes: number;
  /** Counts in the order of ATTEMPT_CLASSES. */
  readonly attempts: number[];
  /** The time from the creation of a delivery to the end of its accepted attempt. */
  readonly latency: DurationHistogram;
  /** The time from the due time of a retry to its start. */
  readonly retryLateness: DurationHistogram;
}

/** Figures that are complete. */
export interface SummedFigures extends Readonly<Omit<Figures, 'attempts' | 'latency' | 'retryLateness'>> {
  readonly attempts: readonly number[];
  readonly latency: DurationCounts;
  readonly retryLateness: DurationCounts;
}

export function noFigures(): Figures {
  return {
    started: 0,
    delivered: 0,
    failed: 0,
    expired: 0,
    retries: 0,
    probes: 0,
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

export function summed(figures: Figures): SummedFigures {
  return { ...figures, latency: countsOf(figures.latency), retryLateness: countsOf(figures.retryLateness) };
}
