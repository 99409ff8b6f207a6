/** Middle and ends of a few measurements of the same thing. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** @throws RangeError when there is nothing to sum up */
export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const least = sorted[0];
  const most = sorted.at(-1);
  if (least === undefined || most === undefined) throw new RangeError('There are no measurements to sum up.');
  const upper = sorted[Math.floor(sorted.length / 2)] ?? most;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? least;
  return { median: (lower + upper) / 2, least, most };
}

export function medianOf(values: readonly number[]): number {
  return summarize(values).median;
}

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly most: number;
}

/** Nearest rank: every figure is a value that was measured. All NaN when there are none. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), most: at(1) };
}
