// Generated from schemas/webhook.attempts-value.avsc by "npm run codegen". Change the schema, not this file.

/** One attempt of one delivery with its outcome. */
export interface WebhookAttempt {
  /** UUIDv5. */
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** v1 | legacy-v1 */
  readonly format: string;
  readonly series: number;
  readonly replayId: string | null;
  /** Offset of the delivery in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number;
  /** Epoch milliseconds. */
  readonly deliveryCreatedAt: number;
  /** Where this attempt went. */
  readonly url: string;
  /** 1 to 5. */
  readonly attempt: number;
  /** When this attempt should have started (epoch milliseconds). */
  readonly dueAt: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** startedAt of attempt 1 of the series (epoch milliseconds). */
  readonly firstAttemptAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Why there is no status code, or why the attempt was refused. */
  readonly errorCode: string | null;
  readonly errorDetail: string | null;
  /** delivered | retrying | failed */
  readonly outcome: string;
  /** Why this outcome, e.g. accepted, temporary_status, permanent_status, attempts_exhausted. */
  readonly decision: string;
  /** Only when retrying (epoch milliseconds). */
  readonly nextDueAt: number | null;
  /** Only in attempt 1. */
  readonly body: string | null;
}

/** The schema of subject webhook.attempts-value. */
export const webhookAttemptSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookAttempt',
  doc: 'One attempt of one delivery with its outcome (R-24).',
  fields: [
    {
      name: 'eventId',
      type: 'string',
      doc: 'UUIDv5 (R-12).',
    },
    {
      name: 'subscriptionId',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'deviceId',
      type: 'string',
    },
    {
      name: 'eventType',
      type: 'string',
    },
    {
      name: 'eventTime',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'format',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'series',
      type: 'int',
      default: 0,
    },
    {
      name: 'replayId',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'deliveryOffset',
      type: 'long',
      doc: 'Offset of the delivery in the same partition of webhook.deliveries.',
    },
    {
      name: 'deliveryCreatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'url',
      type: 'string',
      doc: 'Where this attempt went.',
    },
    {
      name: 'attempt',
      type: 'int',
      doc: '1 to 5.',
    },
    {
      name: 'dueAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'When this attempt should have started.',
    },
    {
      name: 'startedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'firstAttemptAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'startedAt of attempt 1 of the series.',
    },
    {
      name: 'durationMs',
      type: 'int',
    },
    {
      name: 'statusCode',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'errorCode',
      type: ['null', 'string'],
      doc: 'Why there is no status code, or why the attempt was refused.',
      default: null,
    },
    {
      name: 'errorDetail',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'outcome',
      type: 'string',
      doc: 'delivered | retrying | failed',
    },
    {
      name: 'decision',
      type: 'string',
      doc: 'Why this outcome, e.g. accepted, temporary_status, permanent_status, attempts_exhausted.',
    },
    {
      name: 'nextDueAt',
      type: [
        'null',
        {
          type: 'long',
          logicalType: 'timestamp-millis',
        },
      ],
      doc: 'Only when retrying.',
      default: null,
    },
    {
      name: 'body',
      type: ['null', 'string'],
      doc: 'Only in attempt 1.',
      default: null,
    },
  ],
} as const;
