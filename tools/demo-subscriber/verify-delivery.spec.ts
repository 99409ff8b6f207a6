import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyDelivery } from './verify-delivery.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const body = Buffer.from('{"eventId":"e-1"}');

function serviceSignature(seconds: number, ...secrets: readonly string[]): string {
  const signatures = secrets.map((one) => {
    const key = Buffer.from(one.slice('whsec_'.length), 'base64');
    return `v1=${createHmac('sha256', key)
      .update(`${String(seconds)}.`)
      .update(body)
      .digest('hex')}`;
  });
  return [`t=${String(seconds)}`, ...signatures].join(',');
}

function build(signedWith = secret) {
  const at = new Date();
  const seconds = Math.floor(at.getTime() / 1_000);
  return {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': new Webhook(signedWith).sign('e-1', at, body.toString()),
    'x-service-signature': serviceSignature(seconds, signedWith),
  };
}

describe('Verifying a delivery', () => {
  it('accepts a webhook with two valid signatures', () => {
    expect(verifyDelivery(secret, build(), body)).toEqual({ type: 'verified' });
  });

  it('accepts a webhook signed with two secrets when ours is the second', () => {
    const headers = build();
    const seconds = Number(headers['webhook-timestamp']);
    const both = { ...headers, 'x-service-signature': serviceSignature(seconds, otherSecret, secret) };
    expect(verifyDelivery(secret, both, body)).toEqual({ type: 'verified' });
  });

  it.each([
    ['another secret', () => verifyDelivery(secret, build(otherSecret), body)],
    ['another body', () => verifyDelivery(secret, build(), Buffer.from('{}'))],
    ['no headers', () => verifyDelivery(secret, {}, body)],
    ['no service signature', () => verifyDelivery(secret, { ...build(), 'x-service-signature': undefined }, body)],
    ['a service signature of another time', () => verifyDelivery(secret, withService('t=1'), body)],
    ['a service signature that is not hex', () => verifyDelivery(secret, withService('t=1,v1=zz'), body)],
  ])('refuses one with %s', (_what, verify) => expect(verify()).toMatchObject({ type: 'bad' }));
});

function withService(signature: string) {
  return { ...build(), 'x-service-signature': signature };
}
