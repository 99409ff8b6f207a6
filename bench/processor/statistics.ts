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

export const medianOf = (values: readonly number[]): number => summarize(values).median;
