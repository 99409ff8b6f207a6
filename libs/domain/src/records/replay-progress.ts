// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** How far a replay has come; written in one transaction with its deliveries. */
export interface ReplayProgress {
  readonly replayId: string;
  readonly subscriptionId: string;
  /** running | completed | cancelled */
  readonly state: string;
  /** What is selected is decided by the attempts before this offset, also after a restart. */
  readonly attemptsEnd: number;
  /** Original deliveries before this offset are done with. */
  readonly nextDeliveryOffset: number;
  /** Deliveries that match; null: not yet counted. */
  readonly matched: number | null;
  /** Deliveries written so far. */
  readonly sent: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}
