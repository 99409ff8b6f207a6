import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { recognize, verify } from './verify.js';

interface Vector {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly nowSeconds: number;
  readonly toleranceSeconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expected: {
    readonly ok: boolean;
    readonly reason?: string;
    readonly format?: string;
    readonly eventType?: string;
  };
  readonly standardwebhooks?: 'accepts' | 'refuses';
}

const text = readFileSync(new URL('../../vectors.json', import.meta.url), 'utf8');
const { vectors } = JSON.parse(text) as { vectors: readonly Vector[] };
const [valid] = vectors as [Vector];

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function optionsOf({ nowSeconds, toleranceSeconds }: Vector) {
  return { toleranceSeconds, now: new Date(nowSeconds * 1_000) };
}

async function outcomeOf(vector: Vector, headers: Parameters<typeof verify>[1] = vector.headers) {
  const result = await verify(vector.body, headers, vector.secrets, optionsOf(vector));
  if (!result.ok) return { ok: false, reason: result.reason };
  if (result.format === 'unknown') return { ok: true, format: 'unknown' };
  const eventType = result.format === 'v1' ? result.event.eventType : result.event.event;
  return { ok: true, format: result.format, eventType };
}

describe('verify (R-19, R-43)', () => {
  it.each(vectors)('treats the vector "$name" as expected', async (vector) => {
    expect(await outcomeOf(vector)).toEqual(vector.expected);
    expect(await outcomeOf(vector, new Headers(vector.headers))).toEqual(vector.expected);
  });

  it.each(vectors.filter((vector) => vector.standardwebhooks !== undefined))(
    'shares the vector "$name" with the public library, which $standardwebhooks it',
    ({ nowSeconds, secrets, body, headers, standardwebhooks }) => {
      jest.useFakeTimers({ now: nowSeconds * 1_000 });
      const accepts = () => new Webhook(secrets[0] ?? '').verify(body, { ...headers });
      if (standardwebhooks === 'accepts') expect(accepts).not.toThrow();
      else expect(accepts).toThrow();
    },
  );

  it('takes the bytes of a body, the headers of Node, and one secret', async () => {
    const headers = { ...valid.headers, 'set-cookie': ['a', 'b'], host: undefined };
    const result = await verify(Buffer.from(valid.body), headers, valid.secrets[0] ?? '', optionsOf(valid));
    expect(result).toMatchObject({ ok: true, format: 'v1', event: JSON.parse(valid.body) as object });
    expect(result.ok && result.signedAt.getTime()).toBe(valid.nowSeconds * 1_000);
  });

  it('passes over the body once per secret, however many signatures a header has', async () => {
    const passes = [jest.spyOn(crypto.subtle, 'sign'), jest.spyOn(crypto.subtle, 'verify')];
    const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
    const many = Array.from({ length: 300 }, () => wrong).join(' ');
    const headers = {
      'webhook-id': valid.headers['webhook-id'],
      'webhook-timestamp': valid.headers['webhook-timestamp'],
      'webhook-signature': `${many} v1,AAAA ${valid.headers['webhook-signature'] ?? ''}`,
    };
    const secrets = [`whsec_${Buffer.from('another').toString('base64')}`, ...valid.secrets];

    expect(await verify(valid.body, headers, secrets, optionsOf(valid))).toMatchObject({ ok: true });
    expect(passes.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBe(2);
  });

  it('refuses a header that is there twice', async () => {
    const own = valid.headers['x-service-signature'] ?? '';
    expect(await outcomeOf(valid, { 'X-Service-Signature': own, 'x-service-signature': own })).toEqual({
      ok: false,
      reason: 'malformed_headers',
    });
  });

  it('uses the clock of the machine and five minutes by default', async () => {
    jest.useFakeTimers({ now: (valid.nowSeconds + 301) * 1_000, doNotFake: ['queueMicrotask', 'nextTick'] });
    expect(await verify(valid.body, valid.headers, valid.secrets)).toMatchObject({ reason: 'timestamp_too_old' });
    jest.setSystemTime((valid.nowSeconds + 300) * 1_000);
    expect(await verify(valid.body, valid.headers, valid.secrets)).toMatchObject({ ok: true });
  });

  it.each(['', 'whsec_', 'whsec_%%%', 'AQEBAQEBAQEB'])(
    'throws for the secret "%s", which is a mistake',
    async (secret) => {
      await expect(verify(valid.body, valid.headers, secret)).rejects.toThrow(TypeError);
    },
  );

  it.each([
    ['a tolerance that is NaN', { toleranceSeconds: Number.NaN }],
    ['a tolerance that is a text', { toleranceSeconds: '300' as unknown as number }],
    ['an invalid date', { now: new Date('soon') }],
  ])('throws for %s, with which every signature would be timely', async (_what, options) => {
    const old = { ...optionsOf(valid), ...options };
    await expect(verify(valid.body, valid.headers, valid.secrets, old)).rejects.toThrow(TypeError);
  });

  it('takes signatures of any age where the tolerance is infinite', async () => {
    const options = { toleranceSeconds: Number.POSITIVE_INFINITY, now: new Date(0) };
    expect(await verify(valid.body, valid.headers, valid.secrets, options)).toMatchObject({ ok: true });
  });

  it('throws without any secret', async () => {
    await expect(verify(valid.body, valid.headers, [])).rejects.toThrow('at least one secret');
  });
});

describe('recognize', () => {
  it.each([null, 'text', 1, [], {}, { eventType: 'toString' }, { event: 'takeoff' }])('does not know %j', (event) => {
    expect(recognize(event)).toEqual({ format: 'unknown', event });
  });
});
