import { medianOf } from '../../../bench/shared/statistics.js';
import type { Sample } from './samples.js';

/** A retry: when it was due, from the start of the run, and how much later it started. */
export interface RetryStart {
  readonly dueMs: number;
  readonly lateMs: number;
}

export interface Drift {
  readonly figure: string;
  /** The middle value of the second quarter of the run, when everything is warm. */
  readonly early: number;
  /** That of the last quarter. */
  readonly late: number;
  /** What it may be by then. */
  readonly most: number;
}

interface Bound {
  readonly factor: number;
  readonly plus: number;
}

/** A leak that matters shows in hours; a run of minutes must not fail by what a heap does before it is collected. */
const MEMORY_MIB: Bound = { factor: 1.25, plus: 30 };
/**
 * The connections to subscribers come and go with the load. A client of Kafka keeps one to each broker that it has asked,
 * two where it fetches, so that those of a process may double while brokers are killed, and not more than that.
 */
const HANDLES: Bound = { factor: 1.3, plus: 60 };
/** Faults leave backlogs behind at any time, so that only one that grows and grows is a problem. */
const LAG_RECORDS: Bound = { factor: 1.5, plus: 10_000 };
const RETRY_MS: Bound = { factor: 1.5, plus: 750 };
/** Fewer say nothing. */
const LEAST = 5;

/** Whether anything grows with the length of the run. */
export function driftsOf(samples: readonly Sample[], retries: readonly RetryStart[], durationMs: number): Drift[] {
  const early = samples.filter(({ atMs }) => atMs >= durationMs / 4 && atMs < durationMs / 2);
  const late = samples.filter(({ atMs }) => atMs >= (durationMs * 3) / 4 && atMs <= durationMs);
  const compare = (kind: 'residentMiB' | 'handles' | 'lag', unit: string, bound: Bound): Drift[] =>
    [...new Set(samples.flatMap((sample) => Object.keys(sample[kind])))].flatMap((name) => {
      const valuesOf = (part: readonly Sample[]) => part.flatMap((sample) => sample[kind][name] ?? []);
      return driftOf(`${unit} of ${name}`, valuesOf(early), valuesOf(late), bound);
    });
  const lateness = (fromMs: number, toMs: number): number[] =>
    retries.flatMap(({ dueMs, lateMs }) => (dueMs >= fromMs && dueMs < toMs ? [lateMs] : []));
  return [
    ...compare('residentMiB', 'MiB', MEMORY_MIB),
    ...compare('handles', 'handles', HANDLES),
    ...compare('lag', 'lag', LAG_RECORDS),
    ...driftOf(
      'ms that retries are late',
      lateness(durationMs / 4, durationMs / 2),
      lateness((durationMs * 3) / 4, durationMs),
      RETRY_MS,
    ),
  ];
}

function driftOf(figure: string, early: readonly number[], late: readonly number[], bound: Bound): Drift[] {
  if (early.length < LEAST || late.length < LEAST) return [];
  const before = medianOf(early);
  return [{ figure, early: before, late: medianOf(late), most: before * bound.factor + bound.plus }];
}

export function driftProblems(drifts: readonly Drift[]): string[] {
  return drifts
    .filter(({ late, most }) => late > most)
    .map(
      ({ figure, early, late, most }) =>
        `${figure}: from ${String(early)} to ${String(late)}, more than ${String(Math.round(most))}`,
    );
}
