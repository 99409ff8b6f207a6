export interface QueuedDelivery {
  /** No longer needed: it is skipped and uses up neither a slot nor the rate. */
  readonly isVoid: boolean;
  /** False: as a retry, it only takes the place of a later one in the rate. */
  readonly isPaced: boolean;
  /** False: not yet, because its partition may have another owner. It is asked again soon. */
  mayBegin(): boolean;
  /** Called once, with its first attempt already counted: `begun.answered` and `begun.end` must follow. */
  begin(begun: BegunDelivery): void;
}

/** A delivery from its first attempt here to its last. */
export interface BegunDelivery {
  /**
   * A retry starts. It never waits, neither for a slot nor for the rate.
   * @param latenessMs by what this process did meanwhile
   */
  retryStarts(latenessMs: number): void;
  /** The attempt has its status line, or is over: its slot is free. May be called again. */
  answered(): void;
  /** Finished, or held: the reservation is free. */
  end(): void;
}

/** The deliveries of one subscription that wait to begin, first in, first out. */
export interface Lane {
  enqueue(delivery: QueuedDelivery): void;
  /** Begins at once: a predecessor began it, and its retry is due. */
  resume(): BegunDelivery;
  /** No delivery begins before (Retry-After, R-22). Monotonic. */
  beginNoneBefore(endMs: number): void;
}
