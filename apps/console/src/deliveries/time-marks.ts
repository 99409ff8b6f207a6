const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 6, 12, 24, 72].map((hours) => hours * HOUR_MS),
];
/** A narrow screen has room for the texts at their ends. */
const MAX_STEPS = 5;

/** Milliseconds from the start of a time line of that length, from 0 on: few, and round up to 15 days. */
export function timeMarks(spanMs: number): readonly number[] {
  const stepMs = STEPS_MS.find((step) => spanMs <= MAX_STEPS * step) ?? spanMs / MAX_STEPS;
  return Array.from({ length: Math.floor(spanMs / stepMs) + 1 }, (_, index) => index * stepMs);
}
