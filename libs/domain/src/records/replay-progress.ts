// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** How far a replay has come. Written in one transaction with its deliveries. */
export interface ReplayProgress {
  readonly replayId: string;
  readonly subscriptionId: string;
  /** running | completed | cancelled */
  readonly state: string;
  /** Only attempts before this offset decide what is selected, also after a restart. */
  readonly attemptsEnd: number;
  /** The deliveries before this offset have been handled. */
  readonly nextDeliveryOffset: number;
  /** How many deliveries match; null: not counted yet. */
  readonly matched: number | null;
  /** How many deliveries have been written so far. */
  readonly sent: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}
