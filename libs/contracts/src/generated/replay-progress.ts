// Generated from schemas/webhook-delivery.replay-progress-value.avsc by "npm run codegen". Change the schema, not this file.

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

/** The schema of subject webhook-delivery.replay-progress-value. */
export const replayProgressSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'ReplayProgress',
  doc: 'How far a replay has come (R-30); written in one transaction with its deliveries.',
  fields: [
    {
      name: 'replayId',
      type: 'string',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'state',
      type: 'string',
      doc: 'running | completed | cancelled',
    },
    {
      name: 'attemptsEnd',
      type: 'long',
      doc: 'What is selected is decided by the attempts before this offset, also after a restart.',
    },
    {
      name: 'nextDeliveryOffset',
      type: 'long',
      doc: 'Original deliveries before this offset are done with.',
    },
    {
      name: 'matched',
      type: ['null', 'long'],
      default: null,
      doc: 'Deliveries that match; null: not yet counted.',
    },
    {
      name: 'sent',
      type: 'long',
      doc: 'Deliveries written so far.',
    },
    {
      name: 'startedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;
