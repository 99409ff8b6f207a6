import { z } from 'zod';
import {
  EVENT_TYPES,
  formatTime,
  PAYLOAD_FORMATS,
  SUBSCRIPTION_STATUSES,
  type WebhookSubscription,
} from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import { dateTime, enumText, text, uuidText, version } from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';
import { showCertificate, shownCertificate } from './subscription-certificate.dto.js';
import { showHeaders, shownHeaders } from './subscription-headers.dto.js';
import { health } from './subscription-health.dto.js';
import { MAX_RATE_LIMIT_PER_SECOND, TOKEN_AUTH_METHODS } from './subscriptions.dto.js';

const fields = {
  id: uuidText,
  fleetId: text,
  eventType: enumText(EVENT_TYPES),
  url: text,
  description: text.optional(),
  metadata: z.record(text, text).meta({ description: 'As it was set; the order of the keys is not preserved.' }),
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
