import { createHmac } from 'node:crypto';
import { DomainError } from '../domain-error.js';

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
