// Generated from schemas/webhook.operations-value.avsc by "npm run codegen". Change the schema, not this file.

/** Something that the owner of a subscription, or an operator, wants to know of its deliveries. */
export interface OperationalEvent {
  /** UUID; the same when the same thing is told again after a crash. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** exhausted | suspended | probed | resumed | disabled */
  readonly type: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** In words, for people. */
  readonly reason: string;
  /** The delivery that it is about. */
  readonly eventId: string | null;
  /** Its offset in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number | null;
  /** Of the last attempt or of the probe. */
  readonly statusCode: number | null;
  /** As in webhook.attempts. */
  readonly errorCode: string | null;
}

/** The schema of subject webhook.operations-value. */
export const operationalEventSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'OperationalEvent',
  doc: 'Something that the owner of a subscription, or an operator, wants to know of its deliveries.',
  fields: [
    {
      name: 'id',
      type: 'string',
      doc: 'UUID; the same when the same thing is told again after a crash.',
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
      name: 'type',
      type: 'string',
      doc: 'exhausted | suspended | probed | resumed | disabled',
    },
    {
      name: 'occurredAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'reason',
      type: 'string',
      doc: 'In words, for people.',
    },
    {
      name: 'eventId',
      type: ['null', 'string'],
      default: null,
      doc: 'The delivery that it is about.',
    },
    {
      name: 'deliveryOffset',
      type: ['null', 'long'],
      default: null,
      doc: 'Its offset in the same partition of webhook.deliveries.',
    },
    {
      name: 'statusCode',
      type: ['null', 'int'],
      default: null,
      doc: 'Of the last attempt or of the probe.',
    },
    {
      name: 'errorCode',
      type: ['null', 'string'],
      default: null,
      doc: 'As in webhook.attempts.',
    },
  ],
} as const;
