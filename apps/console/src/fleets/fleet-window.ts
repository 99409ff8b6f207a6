import { type Step, STEP_MS } from '../overview/figures.js';

interface Window {
  readonly startDate: Date;
  readonly endDate: Date;
}

/** What the totals of each fleet are of. */
export interface TotalsWindow {
  readonly step: Step;
  /** From where the API counts: the window begins with a whole step. */
  readonly since: Date;
  readonly minutes: number;
}

/** By hour at least: an hour of all fleets by minute may be more stored figures than the API adds. */
export function totalsWindowOf({ startDate, endDate }: Window, columnStep: Step): TotalsWindow {
  const step = columnStep === 'minute' ? 'hour' : columnStep;
  const since = widened(startDate, step);
  return { step, since, minutes: minutesBetween(since, endDate) };
}

/** How long the columns of a chart are together. */
export function columnMinutesOf({ startDate, endDate }: Window, step: Step): number {
  return minutesBetween(widened(startDate, step), endDate);
}

function widened(startDate: Date, step: Step): Date {
  return new Date(Math.floor(startDate.getTime() / STEP_MS[step]) * STEP_MS[step]);
}

function minutesBetween(start: Date, end: Date): number {
  return (end.getTime() - start.getTime()) / STEP_MS.minute;
}
