// Generated from schemas/webhook.deliveries-value.avsc by "npm run codegen". Change the schema, not this file.

/** One event for one subscription, its body frozen. */
export interface WebhookDelivery {
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
  /** The exact UTF-8 text that is signed, sent, stored and returned. */
  readonly body: string;
  /** Clock of the fan-out (epoch milliseconds). */
  readonly createdAt: number;
  /** 0: the first sending; n: the n-th replay. */
  readonly series: number;
  readonly replayId: string | null;
}

/** The schema of subject webhook.deliveries-value. */
export const webhookDeliverySchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookDelivery',
  doc: 'One event for one subscription, its body frozen (R-15).',
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
      name: 'body',
      type: 'string',
      doc: 'The exact UTF-8 text that is signed, sent, stored and returned.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
      doc: 'Clock of the fan-out.',
    },
    {
      name: 'series',
      type: 'int',
      doc: '0: the first sending; n: the n-th replay.',
      default: 0,
    },
    {
      name: 'replayId',
      type: ['null', 'string'],
      default: null,
    },
  ],
} as const;
