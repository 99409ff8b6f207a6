import { EVENT_TYPES, MAX_ID_LENGTH, PAYLOAD_FORMATS } from '@waypost/domain';
import { z } from 'zod';
import { plainText, printable, unique } from '../request-body/read-body.js';

const MAX_URL_BYTES = 2_048;
/** Above what one sender process can do; a limit that never limits would only look like one. */
export const MAX_RATE_LIMIT_PER_SECOND = 10_000;

/** The rest of R-18 needs a look-up and comes after the shape. Bytes count: the URL is part of an index key. */
const url = printable()
  .refine((text) => Buffer.byteLength(text) <= MAX_URL_BYTES, `must be at most ${String(MAX_URL_BYTES)} bytes`)
  .meta({
    format: 'uri',
    maxLength: MAX_URL_BYTES,
    description: 'https, without user info, resolving to public addresses only.',
  });

const eventType = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`);

const eventTypes = z
  .array(eventType)
  .min(1, 'must name at least one')
  .refine(unique, 'must not repeat a type')
  .meta({ uniqueItems: true, description: 'One subscription is made for each.' });

const deviceIds = z
  .array(plainText(MAX_ID_LENGTH))
  .min(1, 'must name at least one device, or be left out for every device')
  .max(1_000, 'must name at most 1000 devices')
  .refine(unique, 'must not repeat a device')
  .meta({ uniqueItems: true, description: 'Only events of these devices.' });

const payloadFormat = z.enum(PAYLOAD_FORMATS, `must be one of ${PAYLOAD_FORMATS.join(', ')}`);

const bearerAuth = z.strictObject({
  type: z.literal('bearer'),
  tokenUrl: url,
  clientId: plainText(1_024),
  clientSecret: plainText(4_096).meta({ writeOnly: true }),
  scope: plainText(1_024).optional(),
});
const auth = z
  .discriminatedUnion('type', [z.strictObject({ type: z.literal('none') }), bearerAuth], {
    error: 'must be {"type":"none"} or {"type":"bearer", tokenUrl, clientId, clientSecret, scope?}',
  })
  .meta({ description: 'How a delivery authenticates itself: not at all, or by an OAuth2 client credentials token.' });

const rateMessage = `must be a whole number from 1 to ${String(MAX_RATE_LIMIT_PER_SECOND)}, or null for no limit`;
const rateLimitPerSecond = z
  .int(rateMessage)
  .min(1, rateMessage)
  .max(MAX_RATE_LIMIT_PER_SECOND, rateMessage)
  .nullable()
  .meta({ description: 'Most attempts that are started in a second, retries included; null: no limit.' });

/** How deliveries are sent. */
const sending = {
  rateLimitPerSecond: rateLimitPerSecond.optional(),
  onOutage: z.enum(['fail', 'hold'], 'must be fail or hold').optional().meta({
    description:
      'What happens while the endpoint fails: `fail` gives each delivery its five attempts; `hold` keeps deliveries, after 5 minutes of nothing but failures, until a probe is accepted, and then sends them in order.',
  }),
  strictOrder: z.boolean('must be true or false').optional().meta({
    description:
      'true: the next event of a device waits until the one before it is delivered or has failed. false: events start in order, and a retry holds nothing back.',
  }),
};

export const createBody = z
  .strictObject({
    eventType: eventType.optional(),
    eventTypes: eventTypes.optional(),
    url,
    deviceIds: deviceIds.optional(),
    payloadFormat: payloadFormat.optional().meta({ description: "The fleet's default when left out." }),
    auth: auth.optional(),
    ...sending,
  })
  .refine((body) => (body.eventType === undefined) !== (body.eventTypes === undefined), {
    path: ['eventTypes'],
    message: 'is required (or eventType with a single type, not both)',
  })
  .meta({ oneOf: [{ required: ['eventType'] }, { required: ['eventTypes'] }] });

export const updateBody = z
  .strictObject({
    url: url.optional(),
    status: z.enum(['active', 'paused'], 'must be active or paused').optional().meta({
      description: '`active` also switches a disabled subscription on again; its `disabledReason` goes.',
    }),
    deviceIds: deviceIds.nullable().optional().meta({ description: 'null: every device.' }),
    payloadFormat: payloadFormat.optional(),
    auth: auth.optional(),
    ...sending,
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .meta({ minProperties: 1 });

export type CreateBody = z.infer<typeof createBody>;
export type UpdateBody = z.infer<typeof updateBody>;
export type AuthBody = z.infer<typeof auth>;
