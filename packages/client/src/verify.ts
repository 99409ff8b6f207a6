import { EVENT_TYPES, type LegacyWebhookEvent, type WebhookEvent } from './generated/webhooks.js';

/** The headers of a request: `request.headers` of Node, a `Headers` object, or a plain object. Case does not matter. */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old or how far in the future a signature may be; 300 by default. */
  readonly toleranceSeconds?: number;
  /** The current time; the clock of the machine by default. */
  readonly now?: Date;
}

/** A body whose signature holds. A type that this version does not know gets a 2xx all the same. */
export type VerifiedWebhook =
  | { readonly format: 'v1'; readonly event: WebhookEvent }
  | { readonly format: 'legacy-v1'; readonly event: LegacyWebhookEvent }
  | { readonly format: 'unknown'; readonly event: unknown };

export type RefusalReason =
  | 'missing_headers'
  | 'malformed_headers'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'wrong_signature'
  | 'malformed_body';

export type Verification =
  | ({ readonly ok: true; readonly signedAt: Date } & VerifiedWebhook)
  /** `message` says more, and holds neither a secret nor the body. */
  | { readonly ok: false; readonly reason: RefusalReason; readonly message: string };

/** CryptoKey, which not every set of types calls a global. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

type Refusal = Extract<Verification, { ok: false }>;

/** What one of the two schemes claims: these signatures, of this text before the body. */
interface Claim {
  readonly seconds: number;
  readonly prefix: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Checks a delivery: `body` as it came, before it is parsed. It is signed in two ways, `webhook-signature` of
 * Standard Webhooks and `X-Service-Signature`; one is enough, and those that are there must all hold. With several
 * secrets, as during a rotation, one has to fit.
 * @throws TypeError for a secret that is not `whsec_` and base64, and for a tolerance or a time that is not a number: a
 * mistake of the receiver, not of the request
 */
export async function verify(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<Verification> {
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : secret).map(importKey));
  if (keys.length === 0) throw new TypeError('verify() needs at least one secret.');
  const nowSeconds = Math.floor(now.getTime() / 1_000);
  // No comparison with NaN holds: every signature would be timely.
  if (typeof toleranceSeconds !== 'number' || Number.isNaN(toleranceSeconds) || Number.isNaN(nowSeconds))
    throw new TypeError('verify() needs numbers for toleranceSeconds and now.');
  const claims = claimsOf(headers);
  if ('reason' in claims) return claims;
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  for (const claim of claims) {
    const refused = untimely(claim, nowSeconds, toleranceSeconds);
    if (refused !== null) return refused;
    if (!(await holds(claim, bytes, keys)))
      return refusal('wrong_signature', 'No signature fits the body and a secret.');
  }
  return parse(bytes, new Date((claims[0]?.seconds ?? 0) * 1_000));
}

function refusal(reason: RefusalReason, message: string): Refusal {
  return { ok: false, reason, message };
}

/** The claims of the headers, at least one. */
function claimsOf(headers: WebhookHeaders): readonly Claim[] | Refusal {
  const [id, time, standard] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    read(headers, name),
  );
  const own = read(headers, 'x-service-signature');
  const isStandard = id !== undefined && time !== undefined && standard !== undefined;
  if (!isStandard && own === undefined) {
    return refusal('missing_headers', 'There are neither all three webhook-* headers nor X-Service-Signature.');
  }
  const claims = [isStandard ? standardClaim(id, time, standard) : null, own === undefined ? null : ownClaim(own)];
  const present = claims.filter((claim) => claim !== null);
  return present.find((claim) => 'reason' in claim) ?? present.filter((claim) => 'seconds' in claim);
}

function standardClaim(id: string, time: string, signature: string): Claim | Refusal {
  const seconds = secondsOf(time);
  if (id === '' || seconds === null)
    return refusal('malformed_headers', 'webhook-id or webhook-timestamp is malformed.');
  const signatures = signature.split(' ').flatMap((part) => (part.startsWith('v1,') ? fromBase64(part.slice(3)) : []));
  if (signatures.length === 0) return refusal('malformed_headers', 'webhook-signature has no signature v1.');
  return { seconds, prefix: `${id}.${time}.`, signatures };
}

/** `t=<unix seconds>,v1=<hex>`, with one `v1` per secret that is valid. */
function ownClaim(header: string): Claim | Refusal {
  const parts = header.split(',').map((part) => part.trim());
  const [time, ...more] = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const seconds = time === undefined || more.length > 0 ? null : secondsOf(time);
  const signatures = parts.flatMap((part) => (part.startsWith('v1=') ? fromHex(part.slice(3)) : []));
  if (seconds === null || signatures.length === 0) {
    return refusal('malformed_headers', 'X-Service-Signature is not t=<unix seconds>,v1=<hex>.');
  }
  return { seconds, prefix: `${String(time)}.`, signatures };
}

/** Digits only: a signature of one scheme must not be readable as one of the other. */
function secondsOf(text: string): number | null {
  return /^[0-9]{1,12}$/.test(text) ? Number(text) : null;
}

/** undefined: not there. One that is there several times counts as empty, which is malformed: no delivery has that. */
function read(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const found = Object.entries(headers).filter(([key, value]) => key.toLowerCase() === name && value !== undefined);
  const values = found.flatMap(([, value]) => value as string | readonly string[]);
  return values.length > 1 ? '' : values[0];
}

function untimely({ seconds }: Claim, now: number, tolerance: number): Refusal | null {
  if (seconds < now - tolerance) return refusal('timestamp_too_old', `It was signed ${String(now - seconds)} s ago.`);
  if (seconds > now + tolerance)
    return refusal('timestamp_too_new', `It was signed ${String(seconds - now)} s from now.`);
  return null;
}

const SIGNATURE_BYTES = 32;

/** Signs once per key: there may be thousands of signatures in a header, and as many passes over a large body. */
async function holds({ prefix, signatures }: Claim, body: Uint8Array, keys: readonly HmacKey[]): Promise<boolean> {
  const start = new TextEncoder().encode(prefix);
  const signed = new Uint8Array(start.length + body.length);
  signed.set(start);
  signed.set(body, start.length);
  const whole = signatures.filter(({ length }) => length === SIGNATURE_BYTES);
  if (whole.length === 0) return false;
  const expected = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, signed)));
  const fits = expected.flatMap((one) => whole.map((signature) => isEqual(new Uint8Array(one), signature)));
  return fits.includes(true);
}

/** In constant time: how long it takes must not say how many bytes of a guess are right. */
function isEqual(expected: Uint8Array, signature: Uint8Array): boolean {
  return signature.reduce((difference, byte, at) => difference | (byte ^ (expected[at] ?? 0)), 0) === 0;
}

async function importKey(secret: string): Promise<HmacKey> {
  const [key] = /^whsec_./.test(secret) ? fromBase64(secret.slice('whsec_'.length)) : [];
  if (key === undefined || key.length === 0) throw new TypeError('A secret is "whsec_" and base64.');
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** Empty when it is not base64. */
function fromBase64(text: string): [] | [Uint8Array<ArrayBuffer>] {
  try {
    return [Uint8Array.from(atob(text), (character) => character.charCodeAt(0))];
  } catch {
    return [];
  }
}

function fromHex(text: string): [] | [Uint8Array<ArrayBuffer>] {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return [];
  return [Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))];
}

function parse(bytes: Uint8Array, signedAt: Date): Verification {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
    return { ok: true, signedAt, ...recognize(event) };
  } catch {
    return refusal('malformed_body', 'The body is signed, but it is not JSON.');
  }
}

/** Which format an already verified body has, for example one that the history gave. */
export function recognize(event: unknown): VerifiedWebhook {
  const known: readonly unknown[] = EVENT_TYPES;
  if (typeof event === 'object' && event !== null) {
    if ('eventType' in event && known.includes(event.eventType)) return { format: 'v1', event: event as WebhookEvent };
    if ('event' in event && known.includes(event.event))
      return { format: 'legacy-v1', event: event as LegacyWebhookEvent };
  }
  return { format: 'unknown', event };
}
