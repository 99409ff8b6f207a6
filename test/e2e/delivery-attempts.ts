import { groupBy } from '../support/group-by.js';
import type { Attempt } from '../support/places.js';

/** The attempts of each delivery, in the order of the log. */
export function byDelivery(log: readonly Attempt[]): (readonly Attempt[])[] {
  return [...groupBy(log, ({ eventId }) => eventId).values()];
}

/** Every attempt that follows another, with that other. */
export function retries(log: readonly Attempt[]): { readonly before: Attempt; readonly retry: Attempt }[] {
  return byDelivery(log).flatMap((attempts) =>
    attempts.slice(1).flatMap((retry, index) => {
      const before = attempts[index];
      return before === undefined ? [] : [{ before, retry }];
    }),
  );
}

/** Epoch ms. */
export function endOf({ startedAt, durationMs }: Attempt): number {
  return startedAt + durationMs;
}
