// Generated from schemas/webhook.replays-value.avsc by "npm run codegen". Change the schema, not this file.

/** One version of what somebody asked to be sent again. */
export interface WebhookReplay {
  /** UUID. */
  readonly replayId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** Of the deliveries that it makes: the n-th replay of the subscription. */
  readonly series: number;
  /** Inclusive; compared with the time of the first attempt (epoch milliseconds). */
  readonly startDate: number;
  /** Exclusive (epoch milliseconds). */
  readonly endDate: number;
  /** delivered | failed | pending; null: any. */
  readonly status: string | null;
  /** null: any. */
  readonly eventType: string | null;
  /** null: any. */
  readonly deviceId: string | null;
  /** Deliveries written per second, at most. */
  readonly ratePerSecond: number;
  readonly cancelled: boolean;
  /** Counts every change, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** The schema of subject webhook.replays-value. */
export const webhookReplaySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookReplay',
  doc: 'One version of what somebody asked to be sent again (R-30).',
  fields: [
    {
      name: 'replayId',
      type: 'string',
      doc: 'UUID.',
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
      name: 'series',
      type: 'int',
      doc: 'Of the deliveries that it makes: the n-th replay of the subscription.',
    },
    {
      name: 'startDate',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Inclusive; compared with the time of the first attempt.',
    },
    {
      name: 'endDate',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Exclusive.',
    },
    {
      name: 'status',
      type: ['null', 'string'],
      default: null,
      doc: 'delivered | failed | pending; null: any.',
    },
    {
      name: 'eventType',
      type: ['null', 'string'],
      default: null,
      doc: 'null: any.',
    },
    {
      name: 'deviceId',
      type: ['null', 'string'],
      default: null,
      doc: 'null: any.',
    },
    {
      name: 'ratePerSecond',
      type: 'int',
      doc: 'Deliveries written per second, at most.',
    },
    {
      name: 'cancelled',
      type: 'boolean',
      default: false,
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change, from 1.',
    },
    {
      name: 'createdAt',
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
