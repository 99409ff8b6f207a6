import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { signingKey } from '../../../../test/support/signing-key.js';
import { formatSigningSecret, signatureHeaders } from './signature.js';

const NEW = Buffer.alloc(32, 1);
const OLD = Buffer.alloc(32, 2);
const ID = 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6';
const BODY = '{"licensePlate":"É 🚚"}';

interface SignedVector {
  readonly name: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signed: {
    readonly secrets: readonly string[];
    readonly eventId: string;
    readonly attempt: number;
    readonly atMs: number;
  };
}

/** Vectors for the verifiers of packages/ that have the product's own headers. */
function signedVectors(): SignedVector[] {
  const text = readFileSync(new URL('../../../../packages/vectors.json', import.meta.url), 'utf8');
  const { vectors } = JSON.parse(text) as { vectors: readonly Partial<SignedVector>[] };
  return vectors.filter((vector) => vector.signed !== undefined) as SignedVector[];
}

/** The public library checks against the clock of the machine. */
function signNow(secrets: Buffer[], body: string | Buffer = BODY) {
  return signatureHeaders({ secrets, eventId: ID, body, attempt: 1, nowMs: Date.now() });
}

describe('signatureHeaders (R-19)', () => {
  /** The first is published with the Standard Webhooks libraries; all were recomputed with the openssl command line. */
  it.each([
    {
      body: '{"test": 2432232314}',
      standard: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      own: 't=1614265330,v1=e96203c6de850e7dc1fde7489ef6140b402d3a5a64fe250cd2eef9830fac1cef',
    },
    {
      body: '{"name":"Zoë 🚚"}',
      standard: 'v1,l51aTo4yyV35JnULEfcea+E666yQTIAytcoiR41iDwk=',
      own: 't=1614265330,v1=085cca07251ef07e97777e649f1b573ab18740e3c3b0f99b9c4d9da4dd3b634f',
    },
  ])('gives the known signatures of $body', ({ body, standard, own }) => {
    const headers = signatureHeaders({
      secrets: [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body,
      attempt: 1,
      nowMs: 1_614_265_330_999,
    });

    expect(headers).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': standard,
      'x-service-signature': own,
    });
  });

  it.each(signedVectors())('gives the headers of the published vector "$name"', ({ signed, body, headers }) => {
    const { secrets, eventId, attempt, atMs } = signed;
    const keys = secrets.map(signingKey);
    expect(signatureHeaders({ secrets: keys, eventId, body, attempt, nowMs: atMs })).toEqual(headers);
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

  const signAt = (body: string | Buffer, nowMs: number) =>
    signatureHeaders({ secrets: [NEW, OLD], eventId: ID, body, attempt: 1, nowMs });

  it('signs any text as its UTF-8 bytes, lone surrogates included, just as the public library does', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.json());
    const times = fc.integer({ min: 0, max: 4_102_444_800_000 });
    fc.assert(
      fc.property(
        texts,
        fc.string({ unit: fc.constantFrom('a', '\ud83d', '\udc00', 'é') }),
        times,
        (text, odd, nowMs) => {
          const body = text + odd;
          expect(signAt(body, nowMs)).toEqual(signAt(Buffer.from(body), nowMs));
          const [first, second] = [NEW, OLD].map((secret) =>
            new Webhook(formatSigningSecret(secret)).sign(ID, new Date(nowMs), body),
          );
          expect(signAt(body, nowMs)['webhook-signature']).toBe(`${first ?? ''} ${second ?? ''}`);
        },
      ),
    );
  });

  it('signs any bytes as they are, in both headers', () => {
    const hmacOf = (prefix: string, body: Buffer) =>
      createHmac('sha256', NEW).update(Buffer.concat([Buffer.from(prefix), body]));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
        const body = Buffer.from(bytes);
        const headers = signatureHeaders({ secrets: [NEW], eventId: ID, body, attempt: 1, nowMs: 7_000 });
        expect(headers['x-service-signature']).toBe(`t=7,v1=${hmacOf('7.', body).digest('hex')}`);
        expect(headers['webhook-signature']).toBe(`v1,${hmacOf(`${ID}.7.`, body).digest('base64')}`);
      }),
    );
  });

  it('lets nothing leave unsigned', () => {
    expect(() => signNow([])).toThrow(expect.objectContaining({ code: 'no_signing_secret' }));
  });
});

describe('signing secrets (R-17)', () => {
  it('are whsec_ and base64', () => {
    expect(formatSigningSecret(NEW)).toBe('whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=');
  });

  it.each([
    [23, false],
    [24, true],
    [64, true],
    [65, false],
  ])('of %d bytes may be used: %s', (length, isAllowed) => {
    const bytes = Buffer.alloc(length, 7);
    if (isAllowed) expect(formatSigningSecret(bytes)).toBe(`whsec_${bytes.toString('base64')}`);
    else expect(() => formatSigningSecret(bytes)).toThrow(expect.objectContaining({ code: 'bad_secret' }));
  });
});
