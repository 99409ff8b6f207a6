import type { FigureBucket } from '@waypost/client';

export interface DayFigures {
  readonly delivered: number;
  readonly pending: number;
  readonly failed: number;
}

/** By subscription, of the totals of each; an expired delivery has failed as well. */
export function dayFiguresOf(totals: readonly FigureBucket[]): ReadonlyMap<string, DayFigures> {
  return new Map(
    totals.map(({ subscriptionId = '', deliveries: { delivered, pending, failed, expired } }) => [
      subscriptionId,
      { delivered, pending, failed: failed + expired },
    ]),
  );
}
