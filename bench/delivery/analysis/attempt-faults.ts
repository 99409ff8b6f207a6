import type { Delivery } from './deliveries.js';

/** What a delivery gets that is never accepted. */
export const ATTEMPTS = 5;

export interface AttemptFaults {
  readonly deliveries: number;
  /** Received more or fewer than five times. */
  readonly wrongCounts: number;
  /** An attempt number of 1 to 5 that never came, or another one that did. */
  readonly wrongNumbers: number;
  /** The event id was not the same in all. */
  readonly changedIds: number;
}

/** Of deliveries that were never accepted and have had the time for all attempts. */
export function attemptFaults(deliveries: readonly Delivery[]): AttemptFaults {
  const count = (isFault: (delivery: Delivery) => boolean): number => deliveries.filter(isFault).length;
  return {
    deliveries: deliveries.length,
    wrongCounts: count(({ receipts }) => receipts.length !== ATTEMPTS),
    wrongNumbers: count(({ receipts }) => {
      const numbers = new Set(receipts.map(({ attempt }) => attempt));
      return numbers.size !== ATTEMPTS || [...numbers].some((number) => number < 1 || number > ATTEMPTS);
    }),
    changedIds: count(({ receipts }) => new Set(receipts.map(({ idHead }) => idHead)).size > 1),
  };
}
