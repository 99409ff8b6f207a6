import { z } from 'zod';
import {
  type CustomHeader,
  customHeaderBytes,
  HEADER_NAME,
  HEADER_VALUE,
  isReservedHeader,
  MAX_CUSTOM_HEADER_BYTES,
  MAX_CUSTOM_HEADERS,
  MAX_HEADER_NAME_LENGTH,
} from '@waypost/domain';
import { text, unique } from '../endpoint/fields.js';

const MAX_HEADERS_MESSAGE = `must have at most ${String(MAX_CUSTOM_HEADERS)} items`;
/** The headers that the owner of a subscription adds to its deliveries. */
export const headers = z
  .array(
    z.strictObject({
      name: z
        .string()
        .max(MAX_HEADER_NAME_LENGTH, `must be at most ${String(MAX_HEADER_NAME_LENGTH)} characters`)
        .regex(HEADER_NAME, 'must be a header name: letters, digits and - are safe')
        .refine((name) => !isReservedHeader(name), 'is a header that Waypost or the transport sets')
        .toLowerCase()
        .meta({ description: 'Stored and sent in lower case.' }),
      value: z
        .string()
        .max(MAX_CUSTOM_HEADER_BYTES, `must be at most ${String(MAX_CUSTOM_HEADER_BYTES)} characters`)
        .regex(HEADER_VALUE, 'must be printable ASCII, without spaces at its ends'),
      secret: z.boolean('must be true or false').default(false).meta({
        description: 'true: the value is stored encrypted and never shown.',
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
      'Sent with every attempt, in addition to the headers of Waypost. Those are not allowed here, nor are headers of the connection or of proxies: `authorization` (see `auth`), `host`, `user-agent`, `content-*`, `x-service-*`, `webhook-*`, `proxy-*`, `x-forwarded-*` and the like.',
  });

export type HeadersBody = z.infer<typeof headers>;

/** As the API shows them: a secret value is write-only. */
export const shownHeaders = z.array(
  z.strictObject({
    name: text,
    value: text.optional().meta({ description: 'Absent when it is secret.' }),
    secret: z.boolean(),
  }),
);

export function showHeaders(stored: readonly CustomHeader[]): z.infer<typeof shownHeaders> {
  return stored.map(({ name, value }) => (value === null ? { name, secret: true } : { name, value, secret: false }));
}
