import { z } from 'zod';
import {
  customHeaderBytes,
  EVENT_TYPES,
  formatTime,
  HEADER_NAME,
  HEADER_VALUE,
  HEALTH_STATUSES,
  isReservedHeader,
  MAX_COUNTED_PENDING,
  MAX_CUSTOM_HEADER_BYTES,
  MAX_CUSTOM_HEADERS,
  MAX_HEADER_NAME_LENGTH,
  MAX_ID_LENGTH,
  PAYLOAD_FORMATS,
  type SubscriptionHealth,
  type WebhookSubscription,
} from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import {
  changesSomething,
  dateTime,
  enumText,
  oneOf,
  plainText,
  printable,
  text,
  unique,
  uuid,
  uuidText,
  version,
  wholeNumber,
} from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';

const MAX_URL_BYTES = 2_048;
/** More than one sender process can do: a higher limit would have no effect. */
const MAX_RATE_LIMIT_PER_SECOND = 10_000;

/** The rest of R-18 needs a look-up and comes after the shape. Limited in bytes: the URL is part of an index key. */
const url = printable()
  .refine((text) => Buffer.byteLength(text) <= MAX_URL_BYTES, `must be at most ${String(MAX_URL_BYTES)} bytes`)
  .meta({
    format: 'uri',
    maxLength: MAX_URL_BYTES,
    description: 'https, without user info, resolving to public addresses only.',
  });

const description = plainText(500).nullable().meta({ description: 'For people; null: none.' });

const MAX_METADATA = 20;
const metadata = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be a name of 1 to 64 letters, digits, dots, _ and -'),
    plainText(256),
  )
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA, `must have at most ${String(MAX_METADATA)} keys`)
  .meta({
    maxProperties: MAX_METADATA,
    description: 'Keys and values of your own, such as an id in your system. Nothing of it is sent to the receiver.',
  });

const eventType = oneOf(EVENT_TYPES);

const eventTypes = z
  .array(eventType)
  .min(1, 'must name at least one')
  .refine(unique, 'must not repeat a type')
  .meta({ uniqueItems: true, description: 'One subscription is created per type.' });

const deviceIds = z
  .array(plainText(MAX_ID_LENGTH))
  .min(1, 'must name at least one device, or be left out for every device')
  .max(1_000, 'must name at most 1000 devices')
  .refine(unique, 'must not repeat a device')
  .meta({ uniqueItems: true, description: 'Only events of these devices.' });

const payloadFormat = oneOf(PAYLOAD_FORMATS);

/** RFC 6749, 2.3.1; the names are those of RFC 8414. */
const TOKEN_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

const bearerAuth = z.strictObject({
  type: z.literal('bearer'),
  tokenUrl: url,
  clientId: plainText(1_024),
  clientSecret: plainText(4_096).meta({ writeOnly: true }),
  scope: plainText(1_024).optional(),
  audience: plainText(1_024).optional(),
  tokenAuthMethod: oneOf(TOKEN_AUTH_METHODS).optional().meta({
    description:
      'How the token request carries the credentials: in its Authorization header (the default) or in its body.',
  }),
});
const auth = z
  .discriminatedUnion('type', [z.strictObject({ type: z.literal('none') }), bearerAuth], {
    error:
      'must be {"type":"none"} or {"type":"bearer", tokenUrl, clientId, clientSecret, scope?, audience?, tokenAuthMethod?}',
  })
  .meta({ description: 'How a delivery authenticates itself: not at all, or by an OAuth2 client credentials token.' });

const MAX_HEADERS_MESSAGE = `must have at most ${String(MAX_CUSTOM_HEADERS)} items`;
const headers = z
  .array(
    z.strictObject({
      name: z
        .string()
        .max(MAX_HEADER_NAME_LENGTH, `must be at most ${String(MAX_HEADER_NAME_LENGTH)} characters`)
        .regex(HEADER_NAME, 'must be a header name: letters, digits and - are safe')
        .refine((name) => !isReservedHeader(name), 'is a header of Waypost or of the transport')
        .toLowerCase()
        .meta({ description: 'Kept and sent in lower case.' }),
      value: z
        .string()
        .max(MAX_CUSTOM_HEADER_BYTES, `must be at most ${String(MAX_CUSTOM_HEADER_BYTES)} characters`)
        .regex(HEADER_VALUE, 'must be printable ASCII, without spaces at its ends'),
      secret: z.boolean('must be true or false').default(false).meta({
        description: 'true: the value is stored sealed and never shown.',
      }),
    }),
  )
  .max(MAX_CUSTOM_HEADERS, MAX_HEADERS_MESSAGE)
  .refine((list) => unique(list.map(({ name }) => name)), 'must not repeat a name')
  .refine(
    (list) => customHeaderBytes(list) <= MAX_CUSTOM_HEADER_BYTES,
    `must have at most ${String(MAX_CUSTOM_HEADER_BYTES)} bytes of names and values together`,
  )
  .meta({
    description:
      'Sent with every attempt, besides those of Waypost. Not allowed are those, and what belongs to the connection or to proxies: `authorization` (see `auth`), `host`, `user-agent`, `content-*`, `x-service-*`, `webhook-*`, `proxy-*`, `x-forwarded-*` and the like.',
  });

const rateMessage = `must be a whole number from 1 to ${String(MAX_RATE_LIMIT_PER_SECOND)}, or null for no limit`;
const rateLimitPerSecond = wholeNumber(1, MAX_RATE_LIMIT_PER_SECOND, rateMessage)
  .nullable()
  .meta({ description: 'The most attempts that are started per second, retries included; null: no limit.' });

/** How deliveries are sent. */
const sending = {
  rateLimitPerSecond: rateLimitPerSecond.optional(),
  onOutage: z.enum(['fail', 'hold'], 'must be fail or hold').optional().meta({
    description:
      'What happens while the endpoint fails: with `fail` each delivery has its five attempts; with `hold` deliveries are kept, after 5 minutes of nothing but failures, until a probe is accepted, and then sent in order.',
  }),
  strictOrder: z.boolean('must be true or false').optional().meta({
    description:
      'true: the next event of a device waits until the one before it is delivered or has failed. false: events start in order, and a retry holds nothing back.',
  }),
};

export class CreateSubscriptionsDto extends dto(
  z
    .strictObject({
      eventType: eventType.optional(),
      eventTypes: eventTypes.optional(),
      url,
      description: description.optional(),
      metadata: metadata.optional(),
      deviceIds: deviceIds.optional(),
      payloadFormat: payloadFormat.optional().meta({ description: "The fleet's default when left out." }),
      auth: auth.optional(),
      headers: headers.optional(),
      ...sending,
    })
    .refine((body) => (body.eventType === undefined) !== (body.eventTypes === undefined), {
      path: ['eventTypes'],
      message: 'is required (or eventType with a single type, not both)',
    })
    .meta({ id: 'CreateSubscriptions', oneOf: [{ required: ['eventType'] }, { required: ['eventTypes'] }] }),
) {}

export class UpdateSubscriptionDto extends dto(
  z
    .strictObject({
      url: url.optional(),
      description: description.optional(),
      metadata: metadata.optional(),
      status: oneOf(['active', 'paused']).optional().meta({
        description:
          '`paused`: nothing is sent, and deliveries wait in order until `active`. `active` also re-enables a disabled subscription; its `disabledReason` is removed.',
      }),
      deviceIds: deviceIds.nullable().optional().meta({ description: 'null: every device.' }),
      payloadFormat: payloadFormat.optional(),
      auth: auth.optional(),
      headers: headers.optional(),
      ...sending,
    })
    .refine(changesSomething, 'must change something')
    .meta({ id: 'UpdateSubscription', minProperties: 1 }),
) {}

/** With `If-Match`, the version of the named subscription counts. */
export class ChangeScopeQueryDto extends dto(
  z.strictObject({
    scope: oneOf(['subscription', 'url']).default('subscription').meta({
      description:
        '`subscription`: only the named one changes. `url`: so do all other subscriptions of the fleet at the same URL, all or none.',
    }),
  }),
) {}

export type AuthBody = z.infer<typeof auth>;
export type HeadersBody = z.infer<typeof headers>;

export class SubscriptionPathDto extends dto(
  z.object({ id: uuid('There is no such subscription.').meta({ description: 'The id of the subscription.' }) }),
) {}

const fields = {
  id: uuidText,
  fleetId: text,
  eventType: enumText(EVENT_TYPES),
  url: text,
  description: text.optional(),
  metadata: z.record(text, text).meta({ description: 'As it was given; its keys are in no particular order.' }),
  status: enumText(['active', 'paused', 'disabled']),
  disabledReason: text.optional().meta({ description: 'Why it was disabled; only while it is.' }),
  payloadFormat: enumText(PAYLOAD_FORMATS),
  deviceIds: z.array(text).optional().meta({ description: 'Absent: every device.' }),
  auth: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('bearer'),
      tokenUrl: text,
      clientId: text,
      scope: text.optional(),
      audience: text.optional(),
      tokenAuthMethod: enumText(TOKEN_AUTH_METHODS).optional().meta({ description: 'Absent: client_secret_basic.' }),
    }),
  ]),
  headers: z.array(
    z.strictObject({
      name: text,
      value: text.optional().meta({ description: 'Absent when it is secret.' }),
      secret: z.boolean(),
    }),
  ),
  rateLimitPerSecond: z
    .int()
    .min(1)
    .max(MAX_RATE_LIMIT_PER_SECOND)
    .optional()
    .meta({ description: 'Absent: no limit.' }),
  onOutage: enumText(['fail', 'hold']),
  strictOrder: z.boolean(),
  version,
  createdAt: dateTime,
  updatedAt: dateTime,
};

/** A subscription as the API shows it: without secrets. */
export class SubscriptionDto extends dto(z.strictObject(fields).meta({ id: 'Subscription' })) {}

const health = z
  .strictObject({
    status: enumText(HEALTH_STATUSES).meta({
      description:
        '`suspended`: deliveries are held until a probe is accepted (`onOutage: hold`). `failing`: nothing that was begun since the last success is accepted. `healthy`: neither. `unknown`: nothing was attempted in the last 15 days.',
    }),
    failingSince: dateTime.optional().meta({
      description:
        'First attempt of the oldest delivery that was begun after the last success, or in the last 15 days, and is not accepted. Absent: there is none.',
    }),
    suspendedSince: dateTime.optional().meta({
      description: 'When deliveries began to be held. Absent: they are not, or for longer than 15 days.',
    }),
    lastSuccessAt: dateTime.optional().meta({
      description:
        'When the newest accepted delivery, by its first attempt, was accepted. Absent: none in the last 15 days.',
    }),
    pending: z
      .int()
      .min(0)
      .max(MAX_COUNTED_PENDING)
      .meta({
        description: `Deliveries that were attempted and are neither accepted nor failed; at most ${String(MAX_COUNTED_PENDING)} are counted. Those that wait for their first attempt, for example while others are held, are not among them.`,
      }),
    oldestPendingAt: dateTime.optional().meta({ description: 'When the oldest of the pending deliveries was made.' }),
  })
  .meta({
    id: 'SubscriptionHealth',
    description: 'How its deliveries fare, from the history: usually less than a second old.',
  });

/** With what costs a look at the history, so lists do not have it. */
export class SubscriptionWithHealthDto extends dto(
  z.strictObject({ ...fields, health }).meta({ id: 'SubscriptionWithHealth' }),
) {}

/** On creation and rotation, and never again, with the signing secret. */
export class SubscriptionWithSecretDto extends dto(
  z
    .strictObject({
      ...fields,
      secret: z.string().meta({
        pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
        description: 'The signing secret. It is shown here and never again.',
      }),
    })
    .meta({ id: 'SubscriptionWithSecret' }),
) {}

export class CreatedSubscriptionsDto extends dto(z.strictObject({ data: z.array(SubscriptionWithSecretDto.schema) })) {}

export class SubscriptionPageDto extends dto(pageOf(SubscriptionDto.schema)) {}

export class QueuedTestDto extends dto(
  z
    .strictObject({
      eventId: uuidText.meta({ description: 'The `eventId` in the event and in the history.' }),
    })
    .meta({ id: 'QueuedTest' }),
) {}

export function toHealth(known: SubscriptionHealth): z.infer<typeof health> {
  const { status, failingSince, suspendedSince, lastSuccessAt, pending, oldestPendingAt } = known;
  return {
    status,
    ...(failingSince === null ? {} : { failingSince: formatTime(failingSince) }),
    ...(suspendedSince === null ? {} : { suspendedSince: formatTime(suspendedSince) }),
    ...(lastSuccessAt === null ? {} : { lastSuccessAt: formatTime(lastSuccessAt) }),
    pending,
    ...(oldestPendingAt === null ? {} : { oldestPendingAt: formatTime(oldestPendingAt) }),
  };
}

export function toSubscription(stored: WebhookSubscription): z.infer<typeof SubscriptionDto.schema> {
  return {
    id: stored.id,
    fleetId: stored.fleetId,
    eventType: stored.eventType,
    url: stored.url,
    ...(stored.description === null ? {} : { description: stored.description }),
    metadata: { ...stored.metadata },
    status: stored.status,
    ...(stored.disabledReason === null ? {} : { disabledReason: stored.disabledReason }),
    payloadFormat: stored.payloadFormat,
    ...(stored.deviceIds === null ? {} : { deviceIds: [...stored.deviceIds] }),
    auth: authOf(stored),
    headers: stored.headers.map(({ name, value }) =>
      value === null ? { name, secret: true } : { name, value, secret: false },
    ),
    ...(stored.rateLimitPerSecond === null ? {} : { rateLimitPerSecond: stored.rateLimitPerSecond }),
    onOutage: stored.onOutage,
    strictOrder: stored.strictOrder,
    version: stored.version,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}

function authOf({ auth: stored }: WebhookSubscription): SubscriptionDto['auth'] {
  if (stored === null) return { type: 'none' };
  const { tokenUrl, clientId, scope, audience, tokenAuthMethod } = stored;
  return {
    type: 'bearer' as const,
    tokenUrl,
    clientId,
    ...(scope === null ? {} : { scope }),
    ...(audience === null ? {} : { audience }),
    ...(tokenAuthMethod === 'client_secret_basic' ? {} : { tokenAuthMethod }),
  };
}
