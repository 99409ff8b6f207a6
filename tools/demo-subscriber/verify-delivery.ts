import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';

export type Verification = { readonly type: 'verified' } | { readonly type: 'bad'; readonly detail: string };

/** Checks both signatures of a delivery: by the public package, and `X-Service-Signature` by hand. */
export function verifyDelivery(secret: string, headers: IncomingHttpHeaders, body: Buffer): Verification {
  try {
    new Webhook(secret).verify(body, standardHeaders(headers));
  } catch (error) {
    return { type: 'bad', detail: `webhook-signature: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!serviceSignatureHolds(secret, single(headers['x-service-signature']), body)) {
    return { type: 'bad', detail: 'X-Service-Signature does not match' };
  }
  return { type: 'verified' };
}

function standardHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, single(headers[name])]));
}

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>]`; while a secret is being changed there are two. */
function serviceSignatureHolds(secret: string, header: string, body: Buffer): boolean {
  const parts = header.split(',').map((part) => part.split('=', 2) as [string, string | undefined]);
  const time = parts.find(([name]) => name === 't')?.[1];
  if (time === undefined) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${time}.`).update(body).digest();
  return parts.some(([name, value]) => name === 'v1' && value !== undefined && sameBytes(expected, value));
}

function sameBytes(expected: Buffer, hex: string): boolean {
  const given = Buffer.from(hex, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function single(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}
