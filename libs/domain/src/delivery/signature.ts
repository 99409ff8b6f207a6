import { createHmac } from 'node:crypto';
import { DomainError } from '../domain-error.js';
import type { SealedSecret } from '../records/webhook-subscription.js';
import { DAY_MS } from '../time/units.js';
import { DELIVERY_HEADER } from './delivery-headers.js';

export interface SignedAttempt {
  /** Newest first, at least one. */
  readonly secrets: readonly Buffer[];
  readonly eventId: string;
  readonly body: string | Buffer;
  readonly attempt: number;
  readonly nowMs: number;
}

/** R-19: computes the signature of one attempt. @throws DomainError `no_signing_secret`: nothing may leave unsigned */
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
    [DELIVERY_HEADER.signature]: serviceSignature,
    [DELIVERY_HEADER.eventId]: eventId,
    [DELIVERY_HEADER.attempt]: String(attempt),
    [DELIVERY_HEADER.webhookId]: eventId,
    [DELIVERY_HEADER.webhookTimestamp]: seconds,
    [DELIVERY_HEADER.webhookSignature]: standardSignature,
  };
}

function hmac(secret: Buffer, prefix: string, body: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', secret).update(prefix).update(body).digest(encoding);
}

const PREFIX = 'whsec_';
/** The bounds of the Standard Webhooks specification; ours are 32 bytes long (R-17). */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** @throws DomainError `bad_secret` */
export function formatSigningSecret(bytes: Buffer): string {
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
    throw new DomainError('bad_secret', `A signing secret has ${String(MIN_BYTES)} to ${String(MAX_BYTES)} bytes.`);
  }
  return PREFIX + bytes.toString('base64');
}

/** R-17: how long a replaced secret still signs. */
export const REPLACED_SECRET_SIGNS_MS = DAY_MS;

/** R-17: the secrets that sign now, newest first; after a rotation, the old ones until they expire. */
export function validSigningSecrets(secrets: readonly SealedSecret[], nowMs: number): SealedSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > nowMs);
}
