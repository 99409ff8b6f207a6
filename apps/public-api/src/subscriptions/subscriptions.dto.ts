import { z } from 'zod';
import {
  EVENT_TYPES,
  MAX_ATTEMPTS,
  MAX_ID_LENGTH,
  PAYLOAD_FORMATS,
  SUBSCRIPTION_STATUSES,
  SUSPEND_AFTER_MS,
} from '@waypost/domain';
import { MAX_SUBSCRIBER_URL_BYTES } from '@waypost/egress';
import { dto } from '../endpoint/dto.js';
import {
  changesSomething,
  NO_CONTROL_CHARACTERS,
  oneOf,
  parameterText,
  plainText,
  printableText,
  unique,
  uuid,
  wholeNumber,
} from '../endpoint/fields.js';
import { durationText } from '../endpoint/prose.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { clientCertificate } from './subscription-certificate.dto.js';
import { headers } from './subscription-headers.dto.js';

/** More than one sender process can do: a higher limit would have no effect. */
export const MAX_RATE_LIMIT_PER_SECOND = 10_000;

/** The rest of R-18 needs a lookup and comes after the shape. */
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
const description = plainText(MAX_DESCRIPTION_LENGTH)
  .nullable()
  .meta({ description: 'A description for humans; null removes it.' });

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
export const TOKEN_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

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
const rateLimitPerSecond = wholeNumber(1, MAX_RATE_LIMIT_PER_SECOND, rateMessage).nullable().meta({
  description:
    'First attempts started per second; null: no limit. Retries do not wait for it: later first attempts make up for them, for at most a minute.',
});

/** How deliveries are sent. */
const sending = {
  rateLimitPerSecond: rateLimitPerSecond.optional(),
  onOutage: z
    .enum(['fail', 'hold'], 'must be fail or hold')
    .optional()
    .meta({
      description: `What happens while the endpoint fails. With \`fail\`, each delivery gets its ${String(MAX_ATTEMPTS)} attempts. With \`hold\`, after ${durationText(SUSPEND_AFTER_MS)} of nothing but failures, deliveries are held until a probe is accepted and are then sent in order.`,
    }),
  strictOrder: z.boolean('must be true or false').optional().meta({
    description:
      'true: the next event of a device waits until the previous one has been delivered or has failed. false: events start in order, but a retry does not hold back later ones.',
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
          '`paused`: nothing is sent; deliveries wait in order until the status is `active` again. `disabled`: no deliveries are created, and waiting ones end as failed, without a request. Both also remove the `disabledReason` of a subscription that was disabled because all its deliveries failed.',
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
