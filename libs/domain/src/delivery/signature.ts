import { createHmac } from 'node:crypto';
import { DomainError } from '../domain-error.js';
import type { SealedSecret } from '../records/webhook-subscription.js';

export interface SignedAttempt {
  /** The bytes behind each valid `whsec_` secret, newest first; at least one. */
  readonly secrets: readonly Buffer[];
  readonly eventId: string;
  /** The exact bytes of the request's body, or the text that they are the UTF-8 of. */
  readonly body: string | Buffer;
  /** From 1. */
  readonly attempt: number;
  /** The attempt's start, epoch milliseconds: receivers refuse a signature that is minutes old. */
  readonly nowMs: number;
}

/**
 * The headers that prove who sent an attempt (R-19), names in lower case: our own `x-service-signature`, over
 * `<t>.<body>`, and the Standard Webhooks trio, over `<id>.<t>.<body>`. Made anew for each attempt.
 *
 * @throws DomainError `no_signing_secret`: nothing may leave unsigned
 */
export function signatureHeaders({ secrets, eventId, body, attempt, nowMs }: SignedAttempt): Record<string, string> {
  if (secrets.length === 0) {
    throw new DomainError('no_signing_secret', 'A delivery needs a signing secret: rotate that of its subscription.');
  }
  const seconds = String(Math.floor(nowMs / 1000));
  let serviceSignature = `t=${seconds}`;
  let standardSignature = '';
  for (const secret of secrets) {
    serviceSignature += `,v1=${hmac(secret, `${seconds}.`, body, 'hex')}`;
    standardSignature += `${standardSignature === '' ? '' : ' '}v1,${hmac(secret, `${eventId}.${seconds}.`, body, 'base64')}`;
  }
  return {
    'x-service-signature': serviceSignature,
    'x-service-event-id': eventId,
    'x-service-attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': standardSignature,
  };
}

function hmac(secret: Buffer, prefix: string, body: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', secret).update(prefix).update(body).digest(encoding);
}

const PREFIX = 'whsec_';
const SHAPE = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
/** The bounds of the Standard Webhooks specification; ours are 32 bytes long (R-17). */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** A signing secret as its owner sees it (R-17). */
export function formatSigningSecret(bytes: Buffer): string {
  return PREFIX + requireLength(bytes).toString('base64');
}

/**
 * The bytes that sign, out of `whsec_` + base64.
 *
 * @throws DomainError `bad_secret` when it has another shape
 */
export function parseSigningSecret(text: string): Buffer {
  if (!SHAPE.test(text)) throw badSecret();
  return requireLength(Buffer.from(text.slice(PREFIX.length), 'base64'));
}

function requireLength(bytes: Buffer): Buffer {
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) throw badSecret();
  return bytes;
}

/** Says nothing of the text itself, which may be most of a secret. */
function badSecret(): DomainError {
  const bytes = `${String(MIN_BYTES)} to ${String(MAX_BYTES)} bytes`;
  return new DomainError('bad_secret', `A signing secret is "${PREFIX}" followed by the base64 of ${bytes}.`);
}

/** The secrets that sign at a time, newest first: the current one and, after a rotation, those not yet expired (R-17). */
export function validSigningSecrets(secrets: readonly SealedSecret[], nowMs: number): SealedSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > nowMs);
}
