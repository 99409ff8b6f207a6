import { z } from 'zod';
import { CREDENTIAL_PREFIXES, formatTime } from '@waypost/domain';
import { parseUrl } from '@waypost/egress';
import { PORTAL_SCOPES, type StoredPortalSession } from '@waypost/management-store';
import { dto } from '../endpoint/dto.js';
import { dateTime, oneOf, plainText, text, unique, uuid, uuidText, wholeNumber } from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';

/** */
export const MAX_SESSION_S = 3_600;
/** A page of the history is a query per subscription. */
const MAX_SUBSCRIPTIONS = 100;
const MAX_URL_LENGTH = 2_048;
const MAX_CODE_LENGTH = 128;

export class CreatePortalSessionDto extends dto(
  z
    .strictObject({
      scopes: z
        .array(oneOf(PORTAL_SCOPES))
        .min(1, 'must name at least one')
        .refine(unique, 'must not repeat a scope')
        .meta({
          uniqueItems: true,
          description:
            'What the session may do: a subset of the scopes of the key that creates it. A session with `subscriptionIds` can have `events:read`, `subscriptions:read` and `subscriptions:write`.',
        }),
      subscriptionIds: z
        .array(uuid())
        .min(1, 'must name at least one')
        .max(MAX_SUBSCRIPTIONS, `must name at most ${String(MAX_SUBSCRIPTIONS)}`)
        .refine(unique, 'must not repeat a subscription')
        .optional()
        .meta({
          uniqueItems: true,
          description: 'The session sees only these subscriptions and their deliveries. Absent: all.',
        }),
      expiresIn: wholeNumber(1, MAX_SESSION_S)
        .optional()
        .meta({
          description: `How long the session lasts, in seconds from now. Default: ${String(MAX_SESSION_S)}.`,
        }),
      expiresInSeconds: wholeNumber(1, MAX_SESSION_S).optional().meta({
        deprecated: true,
        description: 'The earlier name of `expiresIn`, which takes precedence.',
      }),
      returnUrl: plainText(MAX_URL_LENGTH)
        .refine(isReturnUrl, 'must be an https URL')
        .optional()
        .meta({ format: 'uri', description: 'Where the console sends the user when the session has ended.' }),
    })
    .meta({ id: 'CreatePortalSession' }),
) {}

/** It becomes a link: no other scheme, which could run a script. */
function isReturnUrl(given: string): boolean {
  const { protocol, hostname } = parseUrl(given) ?? {};
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname ?? ''));
}

export class PortalSessionPathDto extends dto(
  z.object({ id: uuid('There is no such portal session.').meta({ description: 'The id of the portal session.' }) }),
) {}

const fields = {
  id: uuidText,
  scopes: z.array(text),
  subscriptionIds: z.array(uuidText).optional().meta({ description: 'Absent: all subscriptions of the fleet.' }),
  returnUrl: text.optional(),
  apiKeyId: uuidText.optional().meta({
    description:
      'The API key that created it; the session ends if that key is revoked. Absent: an operator created it with an admin key.',
  }),
  createdAt: dateTime,
  expiresAt: dateTime,
  openedAt: dateTime.optional().meta({ description: 'When its link was used; absent until then.' }),
  revokedAt: dateTime.optional().meta({ description: 'Only for a revoked session.' }),
};

/** A portal session as the API shows it: neither its code nor its token. */
export class PortalSessionDto extends dto(z.strictObject(fields).meta({ id: 'PortalSession' })) {}

/** On creation, and never again. */
export class PortalSessionWithLinkDto extends dto(
  z
    .strictObject({
      ...fields,
      link: text.meta({
        format: 'uri',
        description:
          'Opens the console, once. The code is in the fragment, which browsers do not send. Open it in a frame or a browser, and keep it out of logs.',
      }),
      linkExpiresAt: dateTime.meta({ description: 'When the link expires.' }),
    })
    .meta({ id: 'PortalSessionWithLink' }),
) {}

export class PortalSessionPageDto extends dto(pageOf(PortalSessionDto.schema)) {}

export class ExchangePortalCodeDto extends dto(
  z
    .strictObject({ code: plainText(MAX_CODE_LENGTH).meta({ description: 'The code in the fragment of the link.' }) })
    .meta({ id: 'ExchangePortalCode' }),
) {}

export class PortalTokenDto extends dto(
  z
    .strictObject({
      token: z.string().meta({
        pattern: `^${CREDENTIAL_PREFIXES.portalToken}[A-Za-z0-9_-]{43}$`,
        description: 'Sent like an API key, as `Authorization: Bearer wps_...`. It is shown here and never again.',
      }),
      expiresAt: dateTime,
    })
    .meta({ id: 'PortalToken' }),
) {}

export function toPortalSession(stored: StoredPortalSession): z.infer<typeof PortalSessionDto.schema> {
  const { subscriptionIds, returnUrl, exchangedAt, revokedAt } = stored;
  return {
    id: stored.id,
    scopes: [...stored.scopes],
    ...(subscriptionIds === null ? {} : { subscriptionIds: [...subscriptionIds] }),
    ...(returnUrl === null ? {} : { returnUrl }),
    ...(stored.keyId === null ? {} : { apiKeyId: stored.keyId }),
    createdAt: formatTime(stored.createdAt),
    expiresAt: formatTime(stored.expiresAt),
    ...(exchangedAt === null ? {} : { openedAt: formatTime(exchangedAt) }),
    ...(revokedAt === null ? {} : { revokedAt: formatTime(revokedAt) }),
  };
}
