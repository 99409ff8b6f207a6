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

/** What has arrived and is not shown. It holds no more of it than can be shown, however long somebody reads earlier rows. */
export class ArrivedAttempts {
  private count = 0;
  /** Oldest first; twice as many at most, so that few of the arrivals move the others. */
  private newest: StreamedAttempt[] = [];

  constructor(private readonly most: number) {}

  /** Also those that are no longer held. */
  get size(): number {
    return this.count;
  }

  add(attempt: StreamedAttempt): void {
    this.count += 1;
    this.newest.push(attempt);
    if (this.newest.length >= 2 * this.most) this.newest = this.newest.slice(-this.most);
  }

  /** The tail with what has arrived since, of which nothing waits after that. */
  moveInto(tail: TailRows): TailRows {
    if (this.count === 0) return tail;
    const moved = {
      rows: [...this.newest.slice(-this.most).reverse(), ...tail.rows].slice(0, this.most),
      seen: tail.seen + this.count,
    };
    this.count = 0;
    this.newest = [];
    return moved;
  }
}
