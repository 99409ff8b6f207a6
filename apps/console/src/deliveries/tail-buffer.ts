import type { StreamEvent } from '@waypost/client';

export type StreamedAttempt = StreamEvent<'streamAttempts'>;

/** What a live tail has seen. It holds no more than its newest rows, however long it runs. */
export interface TailRows {
  /** Newest first. */
  readonly rows: readonly StreamedAttempt[];
  /** Attempts that have arrived, also those that are no longer held. */
  readonly seen: number;
}

export const NO_ROWS: TailRows = { rows: [], seen: 0 };

/** The tail with what arrived since, oldest first. */
export function withArrived(tail: TailRows, arrived: readonly StreamedAttempt[], most: number): TailRows {
  if (arrived.length === 0) return tail;
  return {
    rows: [...arrived.slice(-most).reverse(), ...tail.rows].slice(0, most),
    seen: tail.seen + arrived.length,
  };
}
