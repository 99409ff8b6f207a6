/** headers that the owner of a subscription adds to its deliveries. */

export const MAX_CUSTOM_HEADERS = 20;
export const MAX_HEADER_NAME_LENGTH = 64;
/** Limits names plus values: many servers refuse headers over 8 KiB, and ours need about 1 KiB. */
export const MAX_CUSTOM_HEADER_BYTES = 4_096;

/** A token of RFC 9110, 5.6.2. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Stricter than RFC 9110, 5.5: receivers read non-ASCII bytes differently, and trim spaces at the ends. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Headers that Waypost sends itself, or that belong to the connection, to framing or to proxies. In lower case. */
const RESERVED = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
/** Reserved for headers that a later release may send as well. */
const RESERVED_PREFIXES = ['content-', 'proxy-', 'webhook-', 'x-forwarded-', 'x-service-'];

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

export function customHeaderBytes(headers: readonly { readonly name: string; readonly value: string }[]): number {
  return headers.reduce((bytes, { name, value }) => bytes + name.length + value.length, 0);
}
