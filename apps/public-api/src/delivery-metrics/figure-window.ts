import { clampStart } from '@waypost/domain';
import { bucketStart, FIGURE_STEPS, type FigureStep } from '@waypost/history-store';
import { type ApiError, invalidParameters } from '../errors/api-error.js';

const MINUTE_MS = 60_000;
/** A day of minutes. */
export const MAX_BUCKETS = 1_440;

interface AskedWindow {
  readonly startDate: number;
  readonly endDate: number;
  readonly step: FigureStep;
}

export interface FigureWindow {
  readonly startAt: number;
  readonly endAt: number;
  readonly step: FigureStep;
}

/** From the start of a bucket; null: nothing can be in it. @throws ApiError 400 for too many buckets */
export function figureWindowOf({ startDate, endDate, step }: AskedWindow, nowMs: number): FigureWindow | null {
  const startAt = bucketStart(clampStart(startDate, nowMs), step);
  // Nothing has begun yet after the minute that is running.
  const endAt = Math.min(endDate, nowMs + MINUTE_MS);
  if (endAt <= startAt) return null;
  if ((endAt - startAt) / (FIGURE_STEPS[step] * MINUTE_MS) > MAX_BUCKETS) {
    throw invalidParameters([{ parameter: 'step', message: `gives more than ${String(MAX_BUCKETS)} buckets` }]);
  }
  return { startAt, endAt, step };
}

export function tooManyFigures(): ApiError {
  const message = 'needs more figures than one response can aggregate: use a longer step, a shorter window or a filter';
  return invalidParameters([{ parameter: 'step', message }]);
}
