import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from './signature.js';
import { formatSigningSecret, parseSigningSecret } from './signing-secret.js';

const NEW = Buffer.alloc(32, 1);
const OLD = Buffer.alloc(32, 2);
const ID = 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6';
const BODY = '{"licensePlate":"É 🚚"}';

/** The public library checks against the clock of the machine. */
const signNow = (secrets: Buffer[], body: string | Buffer = BODY) =>
  signatureHeaders({ secrets, eventId: ID, body, attempt: 1, nowMs: Date.now() });

describe('signatureHeaders (R-19)', () => {
  it('gives the published Standard Webhooks vector', () => {
    const headers = signatureHeaders({
      secrets: [parseSigningSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      attempt: 1,
      nowMs: 1_614_265_330_000,
    });

    expect(headers).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('signs "<t>.<raw body>" in hex for our own header, t being whole seconds', () => {
    const headers = signatureHeaders({ secrets: [NEW], eventId: ID, body: BODY, attempt: 3, nowMs: 1_714_564_800_999 });
    const expected = createHmac('sha256', NEW).update(`1714564800.${BODY}`, 'utf8').digest('hex');

    expect(headers).toEqual({
      'x-service-signature': `t=1714564800,v1=${expected}`,
      'x-service-event-id': ID,
      'x-service-attempt': '3',
      'webhook-id': ID,
      'webhook-timestamp': '1714564800',
      'webhook-signature': expect.any(String),
    });
  });

  it('signs with every secret, newest first, in both headers', () => {
    const only = (secret: Buffer) =>
      signatureHeaders({ secrets: [secret], eventId: ID, body: BODY, attempt: 1, nowMs: 0 });
    const both = signatureHeaders({ secrets: [NEW, OLD], eventId: ID, body: BODY, attempt: 1, nowMs: 0 });
    const ownOf = (secret: Buffer) => only(secret)['x-service-signature']?.replace('t=0,', '') ?? '';

    expect(both['x-service-signature']).toBe(`t=0,${ownOf(NEW)},${ownOf(OLD)}`);
    expect(both['webhook-signature']).toBe(
      `${String(only(NEW)['webhook-signature'])} ${String(only(OLD)['webhook-signature'])}`,
    );
  });

  it.each([NEW, OLD])('is accepted by the public library under each secret', (secret) => {
    const receiver = new Webhook(formatSigningSecret(secret));

    expect(receiver.verify(BODY, signNow([NEW, OLD]))).toEqual(JSON.parse(BODY));
  });

  it('is refused by the public library for another body, id or secret', () => {
    const headers = signNow([NEW]);
    const receiver = new Webhook(formatSigningSecret(NEW));

    expect(() => receiver.verify(`${BODY} `, headers)).toThrow('No matching signature');
    expect(() => receiver.verify(BODY, { ...headers, 'webhook-id': 'other' })).toThrow('No matching signature');
    expect(() => new Webhook(formatSigningSecret(OLD)).verify(BODY, headers)).toThrow('No matching signature');
  });

  it('signs a text and its UTF-8 bytes alike', () => {
    const sign = (body: string | Buffer) =>
      signatureHeaders({ secrets: [NEW], eventId: ID, body, attempt: 1, nowMs: 1 });

    expect(sign(Buffer.from(BODY))).toEqual(sign(BODY));
  });

  it('lets nothing leave unsigned', () => {
    expect(() => signNow([])).toThrow(expect.objectContaining({ code: 'no_signing_secret' }));
  });
});

describe('signing secrets (R-17)', () => {
  it('are whsec_ and base64, and read back', () => {
    expect(formatSigningSecret(NEW)).toBe('whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=');
    expect(parseSigningSecret(formatSigningSecret(NEW))).toEqual(NEW);
  });

  it.each([
    '',
    'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
    'whsec_',
    'whsec_AQEB',
    'whsec_AQ-_AQEBAQEBAQEBAQEBAQEBAQEB',
  ])('are refused when they read "%s"', (text) => {
    expect(() => parseSigningSecret(text)).toThrow(expect.objectContaining({ code: 'bad_secret' }));
  });

  it('are not told in the error', () => {
    expect(() => parseSigningSecret('whsec_TopSecret')).not.toThrow('TopSecret');
  });
});
