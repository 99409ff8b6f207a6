/*
 * A logarithmic axis of durations. Heights on it are logarithms: what draws it knows of one that is even.
 */

const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000];
/** Nearly as far apart as powers of ten, and round in the units of their texts. */
const MARKS_MS = [
  ...[1, 10, 100, SECOND_MS, 10 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS],
  ...[HOUR_MS, 10 * HOUR_MS, 4 * DAY_MS, 40 * DAY_MS],
];
const HEIGHTS = MARKS_MS.map(Math.log10);

/** What took no time that could be measured is at the bottom; null: it was not measured. */
export function heightOf(ms: number | null): number | null {
  return ms === null ? null : Math.log10(Math.max(1, ms));
}

export function durationAt(height: number): number {
  return Math.round(10 ** height);
}

/** The ends of the axis: the marks around all heights, so that all of it is used. */
export function durationRange(least: number | null, most: number | null): [number, number] {
  const from = HEIGHTS.findLast((mark) => mark <= (least ?? 0)) ?? 0;
  const to = HEIGHTS.find((mark) => mark > (most ?? 0)) ?? HEIGHTS.at(-1) ?? from;
  return [from, to];
}

export function durationMarks(from: number, to: number): number[] {
  return HEIGHTS.filter((mark) => mark >= from && mark <= to);
}
