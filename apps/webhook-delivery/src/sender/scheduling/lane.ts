export interface QueuedDelivery {
  /** True if it is no longer needed: it is skipped and uses up neither a slot nor the rate. */
  readonly isVoid: boolean;
  /** False for what, like a retry, only takes the place of a later delivery in the rate. */
  readonly isPaced: boolean;
  /** False: not yet, because its partition may have another owner. The scheduler asks again soon. */
  mayBegin(): boolean;
  /** Called once, with its first attempt already counted: `begun.answered` and `begun.end` must follow. */
  begin(begun: BegunDelivery): void;
}

/** A delivery that has begun and is not finished. */
export interface BegunDelivery {
  /**
   * Call when a retry starts. It never waits, neither for a slot nor for the rate.
   * @param latenessMs caused by other work of this process
   */
  retryStarts(latenessMs: number): void;
  /** Call when the attempt has its status line, or is over: its slot is free. May be called again. */
  answered(): void;
  /** Call when the delivery is finished or held: its reservation is free. */
  end(): void;
}

/** The deliveries of one subscription that wait to begin, first in, first out. */
export interface Lane {
  enqueue(delivery: QueuedDelivery): void;
  /** Begins at once a delivery of a predecessor whose retry is due. */
  resume(): BegunDelivery;
  /** Delays all deliveries until then (Retry-After, R-22). Monotonic. */
  beginNoneBefore(endMs: number): void;
}
