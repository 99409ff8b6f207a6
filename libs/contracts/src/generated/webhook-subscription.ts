// Generated from schemas/webhook.subscriptions-value.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one subscription. A deleted one is a tombstone. */
export interface WebhookSubscription {
  readonly id: string;
  readonly fleetId: string;
  readonly eventType: string;
  readonly url: string;
  /** active | paused | disabled */
  readonly status: string;
  readonly disabledReason: string | null;
  /** v1 | legacy-v1 */
  readonly payloadFormat: string;
  /** null: every device. */
  readonly deviceIds: readonly string[] | null;
  /** null: none. */
  readonly auth: BearerAuth | null;
  readonly rateLimitPerSecond: number | null;
  /** fail | hold */
  readonly onOutage: string;
  readonly strictOrder: boolean;
  /** Newest first. */
  readonly secrets: readonly SealedSecret[];
  /** Counts every change of this subscription, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** OAuth2 client credentials. */
export interface BearerAuth {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly sealedClientSecret: string;
  readonly scope: string | null;
}

/** A signing secret under AES-256-GCM. */
export interface SealedSecret {
  readonly sealed: string;
  /** null: the current one; else it signs until then (epoch milliseconds). */
  readonly expiresAt: number | null;
}

/** The schema of subject webhook.subscriptions-value. */
export const webhookSubscriptionSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'WebhookSubscription',
  doc: 'One version of one subscription (R-16, R-17). A deleted one is a tombstone.',
  fields: [
    {
      name: 'id',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'eventType',
      type: 'string',
    },
    {
      name: 'url',
      type: 'string',
    },
    {
      name: 'status',
      type: 'string',
      doc: 'active | paused | disabled',
    },
    {
      name: 'disabledReason',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'payloadFormat',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'deviceIds',
      type: [
        'null',
        {
          type: 'array',
          items: 'string',
        },
      ],
      doc: 'null: every device.',
      default: null,
    },
    {
      name: 'auth',
      type: [
        'null',
        {
          type: 'record',
          name: 'BearerAuth',
          doc: 'OAuth2 client credentials (R-23).',
          fields: [
            {
              name: 'tokenUrl',
              type: 'string',
            },
            {
              name: 'clientId',
              type: 'string',
            },
            {
              name: 'sealedClientSecret',
              type: 'string',
            },
            {
              name: 'scope',
              type: ['null', 'string'],
              default: null,
            },
          ],
        },
      ],
      doc: 'null: none.',
      default: null,
    },
    {
      name: 'rateLimitPerSecond',
      type: ['null', 'int'],
      default: null,
    },
    {
      name: 'onOutage',
      type: 'string',
      doc: 'fail | hold',
    },
    {
      name: 'strictOrder',
      type: 'boolean',
      default: false,
    },
    {
      name: 'secrets',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'SealedSecret',
          doc: 'A signing secret under AES-256-GCM (R-17).',
          fields: [
            {
              name: 'sealed',
              type: 'string',
            },
            {
              name: 'expiresAt',
              type: [
                'null',
                {
                  type: 'long',
                  logicalType: 'timestamp-millis',
                },
              ],
              doc: 'null: the current one; else it signs until then.',
              default: null,
            },
          ],
        },
      },
      doc: 'Newest first.',
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change of this subscription, from 1.',
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
