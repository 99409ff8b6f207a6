/** Counts of durations by bucket. Adding two of them gives the histogram of both, so an hour is the sum of its minutes. */
export type DurationHistogram = Map<number, number>;

/** The same as `bucket, count, ...`, lowest bucket first. */
export type DurationCounts = readonly number[];

/** Each bucket ends 10 % above the one before. */
const RATIO = 1.1;
const LOG_RATIO = Math.log(RATIO);

/** The maximum error of a percentile, as a fraction of its value: 4.8 %. */
export const DURATION_ERROR = (RATIO - 1) / (RATIO + 1);

/** 0: up to 1 ms; n: from 1.1^(n-1) ms, exclusive, to 1.1^n ms. Fifteen days are in bucket 220. */
export function durationBucket(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / LOG_RATIO);
}

export function addDurations(histogram: DurationHistogram, bucket: number, count: number): void {
  const sum = (histogram.get(bucket) ?? 0) + count;
  if (sum === 0) histogram.delete(bucket);
  else histogram.set(bucket, sum);
}

export function countsOf(histogram: DurationHistogram): DurationCounts {
  const counts: number[] = [];
  for (const bucket of [...histogram.keys()].sort((a, b) => a - b)) counts.push(bucket, histogram.get(bucket) ?? 0);
  return counts;
}

/** Within DURATION_ERROR; null without durations. `parts` ascend, above 0 and up to 1. */
export function percentiles(counts: DurationCounts, parts: readonly number[]): (number | null)[] {
  let total = 0;
  for (let index = 1; index < counts.length; index += 2) total += counts[index] ?? 0;
  if (total === 0) return parts.map(() => null);
  const durations: number[] = [];
  let seen = counts[1] ?? 0;
  let index = 0;
  for (const part of parts) {
    for (const rank = Math.ceil(part * total); seen < rank;) seen += counts[(index += 2) + 1] ?? 0;
    durations.push(durationOf(counts[index] ?? 0));
  }
  return durations;
}

/** The value with the same relative distance to both ends of the bucket. */
function durationOf(bucket: number): number {
  return bucket === 0 ? 1 : Math.round((2 * RATIO ** bucket) / (RATIO + 1));
}
