import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ReceivedCall } from './receiver.js';
import { signingKey } from './signing-key.js';

/**
 * What is wrong with the signatures of a call, by the public library and by X-Service-Signature; null: nothing.
 * To be asked within five minutes of the call: the library refuses older ones.
 */
export function signatureProblem(call: ReceivedCall, secret: string): string | null {
  return standardProblem(call, secret) ?? serviceProblem(call, secret);
}

function standardProblem({ headers, body, eventId }: ReceivedCall, secret: string): string | null {
  const trio = {
    'webhook-id': text(headers['webhook-id']),
    'webhook-timestamp': text(headers['webhook-timestamp']),
    'webhook-signature': text(headers['webhook-signature']),
  };
  if (trio['webhook-id'] !== eventId) return `webhook-id ${trio['webhook-id']} is not the body's eventId`;
  try {
    new Webhook(secret).verify(body, trio);
    return null;
  } catch (error) {
    return `standardwebhooks: ${String(error)}`;
  }
}

function serviceProblem({ headers, body, eventId }: ReceivedCall, secret: string): string | null {
  const [, time, signatures] = /^t=(\d+),((?:v1=[0-9a-f]{64},?)+)$/.exec(text(headers['x-service-signature'])) ?? [];
  if (time === undefined || signatures === undefined) return 'X-Service-Signature is not t=...,v1=...';
  const expected = createHmac('sha256', signingKey(secret)).update(`${time}.`).update(body).digest('hex');
  if (!signatures.split(',').includes(`v1=${expected}`)) return 'X-Service-Signature is not of this body and secret';
  if (time !== headers['webhook-timestamp']) return 'the two signatures have different times';
  return headers['x-service-event-id'] === eventId ? null : "X-Service-Event-Id is not the body's eventId";
}

function text(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}
