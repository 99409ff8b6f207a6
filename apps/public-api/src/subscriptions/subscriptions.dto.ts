import { z } from 'zod';
import {
  EVENT_TYPES,
  formatTime,
  MAX_ID_LENGTH,
  PAYLOAD_FORMATS,
  SUBSCRIPTION_STATUSES,
  type WebhookSubscription,
} from '@waypost/domain';
import { MAX_SUBSCRIBER_URL_BYTES } from '@waypost/egress';
import { dto } from '../endpoint/dto.js';
import {
  changesSomething,
  dateTime,
  enumText,
  NO_CONTROL_CHARACTERS,
  oneOf,
  parameterText,
  plainText,
  printableText,
  text,
  unique,
  uuid,
  uuidText,
  version,
  wholeNumber,
} from '../endpoint/fields.js';
import { ListQueryDto, pageOf } from '../paging/paging.dto.js';
import { clientCertificate, showCertificate, shownCertificate } from './subscription-certificate.dto.js';
import { headers, showHeaders, shownHeaders } from './subscription-headers.dto.js';
import { health } from './subscription-health.dto.js';

/** More than one sender process can do: a higher limit would have no effect. */
const MAX_RATE_LIMIT_PER_SECOND = 10_000;

/** The rest of R-18 needs a look-up and comes after the shape. */
const url = printableText()
  .refine(
    (text) => Buffer.byteLength(text) <= MAX_SUBSCRIBER_URL_BYTES,
    `must be at most ${String(MAX_SUBSCRIBER_URL_BYTES)} bytes`,
  )
  .meta({
    format: 'uri',
    maxLength: MAX_SUBSCRIBER_URL_BYTES,
    description: 'https, without user info, resolving to public addresses only.',
  });

const MAX_DESCRIPTION_LENGTH = 500;
const description = plainText(MAX_DESCRIPTION_LENGTH).nullable().meta({ description: 'For people; null removes it.' });

const MAX_METADATA = 20;
const metadata = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be a name of 1 to 64 letters, digits, dots, _ and -'),
    plainText(256),
  )
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA, `must have at most ${String(MAX_METADATA)} keys`)
  .meta({
    maxProperties: MAX_METADATA,
    description: 'Your own keys and values, such as an id in your system. They are not sent to the receiver.',
  });

const eventType = oneOf(EVENT_TYPES);

const eventTypes = z
  .array(eventType)
  .min(1, 'must name at least one')
  .refine(unique, 'must not repeat a type')
  .meta({ uniqueItems: true, description: 'One subscription is created per type.' });

const deviceIds = z
  .array(plainText(MAX_ID_LENGTH))
  .min(1, 'must name at least one device, or be omitted for every device')
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
  .meta({ description: 'How deliveries authenticate: not at all, or with an OAuth2 client credentials token.' });

const rateMessage = `must be a whole number from 1 to ${String(MAX_RATE_LIMIT_PER_SECOND)}, or null for no limit`;
const rateLimitPerSecond = wholeNumber(1, MAX_RATE_LIMIT_PER_SECOND, rateMessage)
  .nullable()
  .meta({ description: 'Maximum attempts started per second, including retries; null: no limit.' });

/** How deliveries are sent. */
const sending = {
  rateLimitPerSecond: rateLimitPerSecond.optional(),
  onOutage: z.enum(['fail', 'hold'], 'must be fail or hold').optional().meta({
    description:
      'What happens while the endpoint fails: with `fail` each delivery has its five attempts; with `hold` deliveries are kept, after 5 minutes with only failures, until a probe is accepted, and then sent in order.',
  }),
  strictOrder: z.boolean('must be true or false').optional().meta({
    description:
      'true: the next event of a device waits until the previous one is delivered or has failed. false: events start in order, but a retry does not hold back later ones.',
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
      payloadFormat: payloadFormat.optional().meta({ description: 'Default: the format of the fleet.' }),
      auth: auth.optional(),
      headers: headers.optional(),
      clientCertificate: clientCertificate.optional(),
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
      status: oneOf(SUBSCRIPTION_STATUSES).optional().meta({
        description:
          '`paused`: nothing is sent, and deliveries wait in order until `active`. `disabled`: no deliveries are created, and waiting ones end as failed, without a request. Both also remove the `disabledReason` of a subscription that was disabled because all its deliveries failed.',
      }),
      deviceIds: deviceIds.nullable().optional().meta({ description: 'null: every device.' }),
      payloadFormat: payloadFormat.optional(),
      auth: auth.optional(),
      headers: headers.optional(),
      clientCertificate: clientCertificate.optional(),
      ...sending,
    })
    .refine(changesSomething, 'must change something')
    .meta({ id: 'UpdateSubscription', minProperties: 1 }),
) {}

/** The filters of the list; together they must all match. */
export class SubscriptionListQueryDto extends dto(
  ListQueryDto.schema.extend({
    status: oneOf(SUBSCRIPTION_STATUSES).optional().meta({ description: 'Only subscriptions with this status.' }),
    eventType: oneOf(EVENT_TYPES).optional().meta({ description: 'Only subscriptions to this event type.' }),
    url: parameterText(MAX_SUBSCRIBER_URL_BYTES)
      .optional()
      .meta({ pattern: NO_CONTROL_CHARACTERS, description: 'Only subscriptions with exactly this URL.' }),
    text: parameterText(MAX_DESCRIPTION_LENGTH).optional().meta({
      pattern: NO_CONTROL_CHARACTERS,
      description: 'Only subscriptions whose `description` contains this text, ignoring case.',
    }),
    order: oneOf(['asc', 'desc']).default('asc').meta({
      description: 'By the time of creation. `asc`: oldest first. `desc`: newest first.',
    }),
  }),
) {}

/** With `If-Match`, the version of the named subscription counts. */
export class ChangeScopeQueryDto extends dto(
  z.strictObject({
    scope: oneOf(['subscription', 'url']).default('subscription').meta({
      description:
        '`subscription`: only this subscription changes. `url`: all other subscriptions of the fleet with the same URL also change, all or none.',
    }),
  }),
) {}

export type AuthBody = z.infer<typeof auth>;

export class SubscriptionPathDto extends dto(
  z.object({ id: uuid('There is no such subscription.').meta({ description: 'The id of the subscription.' }) }),
) {}

const fields = {
  id: uuidText,
  fleetId: text,
  eventType: enumText(EVENT_TYPES),
  url: text,
  description: text.optional(),
  metadata: z.record(text, text).meta({ description: 'As it was set; the order of its keys is not preserved.' }),
  status: enumText(SUBSCRIPTION_STATUSES),
  disabledReason: text.optional().meta({ description: 'Why it was disabled; only while it is disabled.' }),
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
  headers: shownHeaders,
  clientCertificate: shownCertificate.optional().meta({ description: 'Absent: none.' }),
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

/** What a list can afford of the health. */
export class ListedSubscriptionDto extends dto(
  z
    .strictObject({
      ...fields,
      suspended: z.boolean().meta({
        description: 'Whether deliveries are held until a probe is accepted (`onOutage: hold`), as in `health`.',
      }),
    })
    .meta({ id: 'ListedSubscription' }),
) {}

/** A subscription with what costs a look at the history, so lists do not have it. */
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

export class SubscriptionPageDto extends dto(pageOf(ListedSubscriptionDto.schema)) {}

export class QueuedTestDto extends dto(
  z
    .strictObject({
      eventId: uuidText.meta({ description: 'The `eventId` in the event and in the history.' }),
    })
    .meta({ id: 'QueuedTest' }),
) {}

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
    headers: showHeaders(stored.headers),
    ...(stored.clientCertificate === null ? {} : { clientCertificate: showCertificate(stored.clientCertificate) }),
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
