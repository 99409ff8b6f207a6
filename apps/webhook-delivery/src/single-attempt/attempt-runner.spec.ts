import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DELIVERY_HEADERS } from '@waypost/contracts';
import { type BearerAuth, formatSigningSecret } from '@waypost/domain';
import type { EgressResult } from '@waypost/egress';
import {
  type AttemptRig,
  deliveryOf,
  rigAuth,
  rigHeader,
  rigSubscription,
  startAttemptRig,
} from '../../../../test/support/attempt-rig.js';
import { signatureProblem } from '../../../../test/support/signature-problem.js';
import { flushed, settlesWithin } from '../../../../test/support/until.js';

const NEW = Buffer.alloc(32, 1);
/** Nothing listens at port 1. */
const NOWHERE = 'http://127.0.0.1:1/';

/** The client secret of a token request. */
function basicPassword(authorization = ''): string | undefined {
  return Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')[1];
}

let rig: AttemptRig;

beforeEach(async () => {
  rig = await startAttemptRig();
});

afterEach(() => rig.close());

describe('the headers of a subscription (R-19)', () => {
  function withHeaders(...headers: { name: string; value: string | null; sealedValue: string | null }[]) {
    rig.put(rigSubscription('sub-1', { url: rig.hook(), headers }));
  }
  function plain(name: string, value: string) {
    return { name, value, sealedValue: null };
  }

  it('reach the receiver with every attempt, opened if they are secret, beside those of Waypost', async () => {
    withHeaders(plain('x-site', 'north: 1'), rigHeader('sub-1', 'x-api-key', 'k-7'));
    for (const attempt of [1, 2]) await rig.run('sub-1', { attempt });
    expect(rig.receiver.calls).toHaveLength(2);
    for (const call of rig.receiver.calls) {
      expect(call.headers).toMatchObject({ 'x-site': 'north: 1', 'x-api-key': 'k-7' });
      expect(signatureProblem(call, formatSigningSecret(NEW))).toBeNull();
    }
    expect(rig.receiver.calls.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
  });

  it('are those of the newest version of the subscription', async () => {
    withHeaders(rigHeader('sub-1', 'x-api-key', 'old'));
    await rig.run('sub-1');
    rig.put(
      rigSubscription('sub-1', { url: rig.hook(), version: 2, headers: [rigHeader('sub-1', 'x-api-key', 'new')] }),
    );
    await rig.run('sub-1');
    expect(rig.receiver.calls.map(({ headers }) => headers['x-api-key'])).toEqual(['old', 'new']);
  });

  it('never replace one of Waypost, whatever a record says', async () => {
    withHeaders(plain('x-service-attempt', '5'), plain('content-type', 'text/plain'), plain('traceparent', 'mine'));
    await rig.run('sub-1', { attempt: 2 });
    expect(rig.onlyCall().headers).toMatchObject({ 'x-service-attempt': '2', 'content-type': 'application/json' });
    expect(rig.onlyCall().headers['traceparent']).not.toBe('mine');
  });

  it('are not sent to the token server', async () => {
    rig.receiver.behave(({ path }) => ({
      type: 'respond',
      status: 200,
      body: path === '/token' ? JSON.stringify({ access_token: 't', token_type: 'Bearer', expires_in: 3_600 }) : '',
    }));
    const auth = rigAuth('sub-1', rig.receiver.url('/token'));
    rig.put(rigSubscription('sub-1', { url: rig.hook(), auth, headers: [rigHeader('sub-1', 'x-api-key', 'k-7')] }));
    await rig.run('sub-1');
    expect(rig.onlyCall().headers).toMatchObject({ authorization: 'Bearer t', 'x-api-key': 'k-7' });
    expect(rig.receiver.callsTo('/token')[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it.each(['of another subscription', 'of another name'])(
    'are not left out when one cannot be opened: nothing is sent, and that is said (%s)',
    async (what) => {
      const foreign = what === 'of another name' ? rigHeader('sub-1', 'x-b', 'k') : rigHeader('sub-2', 'x-a', 'k');
      withHeaders({ ...foreign, name: 'x-a' });
      const result = {
        type: 'error',
        errorCode: 'secret_unreadable',
        detail: expect.stringContaining('header') as unknown,
      };
      expect(await rig.run('sub-1')).toMatchObject({ result });
      expect(rig.receiver.calls).toEqual([]);
    },
  );
});

describe('an attempt', () => {
  it('POSTs the frozen body with its headers (R-15, R-19)', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const delivery = deliveryOf('sub-1');
    expect(await rig.run('sub-1', { attempt: 2 })).toMatchObject({
      type: 'ended',
      url: rig.hook(),
      auth: 'none',
      result: { type: 'response', statusCode: 200 },
    });
    expect(rig.onlyCall().body.toString()).toBe(delivery.body);
    expect(rig.onlyCall().headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-attempt': '2',
      'x-service-subscription-id': 'sub-1',
      'x-service-event-id': delivery.eventId,
      'webhook-id': delivery.eventId,
    });
    expect(rig.onlyCall().headers).not.toHaveProperty('authorization');
  });

  it('has the headers that are published, and no others but those of HTTP (R-19)', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook(), auth: rigAuth('sub-1', rig.receiver.url('/token')) }));
    const token = JSON.stringify({ access_token: 't', expires_in: 3_600 });
    rig.receiver.behave(({ path }) => ({ type: 'respond', status: 200, body: path === '/token' ? token : '' }));
    await rig.run('sub-1', { tracestate: 'congo=t61' });
    const ofHttp = ['accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];
    expect(Object.keys(rig.onlyCall().headers).toSorted()).toEqual(
      [...Object.keys(DELIVERY_HEADERS), ...ofHttp].toSorted(),
    );
  });

  it('gives the receiver its trace context (R-46)', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await rig.run('sub-1', { traceparent });
    await rig.run('sub-1', { traceparent, tracestate: 'congo=t61' });
    expect(rig.receiver.calls.map(({ headers }) => [headers['traceparent'], headers['tracestate']])).toEqual([
      [traceparent, undefined],
      [traceparent, 'congo=t61'],
    ]);
  });

  it('returns the status, the Retry-After and the beginning of the body of the response', async () => {
    const answer = { type: 'respond', status: 503, headers: { 'retry-after': '3' }, body: 'in maintenance' } as const;
    rig.receiver.behave(() => answer);
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const body = Buffer.from('in maintenance');
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 503, retryAfter: '3', body } });
  });

  it('sends nothing when its 5 s have passed before the POST', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    expect(await rig.run('sub-1', { begunMsAgo: 5_000 })).toMatchObject({ result: { errorCode: 'timeout' } });
    expect(rig.receiver.calls).toEqual([]);
  });

  it('is aborted without a result when the process stops', async () => {
    rig.receiver.behave(() => ({ type: 'hang' }));
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const stop = new AbortController();
    const running = rig.run('sub-1', { signal: stop.signal });
    setTimeout(() => {
      stop.abort();
    }, 50);
    expect(await running).toEqual({ type: 'aborted' });
  });
});

describe('an attempt whose subscription its owner changes before the request is written (R-16)', () => {
  const changes = [
    ['paused', 'paused', undefined],
    ['disabled', 'ended', 'subscription_disabled'],
    ['deleted', 'ended', 'subscription_deleted'],
  ] as const;
  function change(status: (typeof changes)[number][0], auth: BearerAuth | null = null): void {
    if (status === 'deleted') rig.remove('sub-1');
    else rig.put(rigSubscription('sub-1', { url: rig.hook(), auth, status, version: 2 }));
  }

  it.each(changes)('is not sent while it waits for a connection: %s', async (status, type, errorCode) => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const run = rig.run('sub-1');
    change(status);
    expect(await run).toMatchObject({ type, ...(errorCode === undefined ? {} : { result: { errorCode } }) });
    expect(rig.receiver.calls).toEqual([]);
  });

  it.each(changes)('is not sent while it waits for a token: %s', async (status, type, errorCode) => {
    const auth = rigAuth('sub-1', rig.receiver.url('/token'));
    rig.put(rigSubscription('sub-1', { url: rig.hook(), auth }));
    rig.receiver.behave(() => {
      change(status, auth);
      return { type: 'respond', status: 200, body: JSON.stringify({ access_token: 't', expires_in: 3_600 }) };
    });
    const run = await rig.run('sub-1');
    expect(run).toMatchObject({ type, ...(errorCode === undefined ? {} : { result: { errorCode } }) });
    expect(rig.receiver.callsTo('/hook')).toEqual([]);
  });

  it.each([
    ['with the token of its new client', rigAuth, 'Bearer t', 1],
    ['without a token when it has no client any more', () => null, undefined, 0],
  ])(
    'is sent as it is now, %s, if its token was not requested yet (R-18, R-23)',
    async (_how, authOf, sent, requests) => {
      const tokenUrl = rig.receiver.url('/token');
      rig.put(rigSubscription('sub-1', { url: rig.hook(), auth: rigAuth('sub-1', tokenUrl, 'old') }));
      rig.receiver.behave(({ path }) => {
        const token = JSON.stringify({ access_token: 't', expires_in: 3_600 });
        return { type: 'respond', status: 200, body: path === '/token' ? token : '' };
      });
      const run = rig.run('sub-1');
      rig.put(rigSubscription('sub-1', { url: rig.hook(), auth: authOf('sub-1', tokenUrl, 'new'), version: 2 }));
      expect(await run).toMatchObject({ type: 'ended', result: { statusCode: 200 } });
      expect(rig.onlyCall().headers.authorization).toBe(sent);
      const secrets = rig.receiver.callsTo('/token').map(({ headers }) => basicPassword(headers.authorization));
      expect(secrets).toEqual(Array.from({ length: requests }, () => 'new'));
    },
  );

  it('does not count when it was paused and the token request failed', async () => {
    const auth = rigAuth('sub-1', rig.receiver.url('/token'));
    rig.put(rigSubscription('sub-1', { url: rig.hook(), auth }));
    rig.receiver.behave(() => {
      change('paused', auth);
      return { type: 'respond', status: 500 };
    });
    expect(await rig.run('sub-1')).toEqual({ type: 'paused' });
  });

  it('does not count when it was paused while there was no connection', async () => {
    const results: EgressResult[] = [];
    const pausing = await startAttemptRig(undefined, undefined, (result) => {
      results.push(result);
      pausing.put(rigSubscription('sub-1', { url: NOWHERE, status: 'paused', version: 2 }));
    });
    pausing.put(rigSubscription('sub-1', { url: NOWHERE }));
    expect(await pausing.run('sub-1')).toEqual({ type: 'paused' });
    expect(results).toMatchObject([{ errorCode: 'connection_refused' }]);
    await pausing.close();
  });

  it('counts when it was paused after the request had been written', async () => {
    const pausing = await startAttemptRig(
      () => ({ type: 'reset' }),
      undefined,
      () => {
        pausing.put(rigSubscription('sub-1', { url: pausing.receiver.url('/'), status: 'paused', version: 2 }));
      },
    );
    pausing.put(rigSubscription('sub-1', { url: pausing.receiver.url('/') }));
    expect(await pausing.run('sub-1')).toMatchObject({ type: 'ended', result: { errorCode: 'connection_reset' } });
    await pausing.close();
  });
});

describe('what a receiver says of its refusal (R-24)', () => {
  it('is kept without the token that it repeats', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook(), auth: rigAuth('sub-1', rig.receiver.url('/token')) }));
    rig.receiver.behave(({ path, headers }) =>
      path === '/token'
        ? { type: 'respond', status: 200, body: JSON.stringify({ access_token: 'tok-4711', expires_in: 3_600 }) }
        : { type: 'respond', status: 500, body: `failed on ${String(headers.authorization)}` },
    );
    const run = await rig.run('sub-1');
    const body = run.type === 'ended' && run.result.type === 'response' ? run.result.body : undefined;
    expect(Buffer.from(body ?? []).toString()).toBe('failed on Bearer [secret]');
  });

  it('is kept without either where the request has both', async () => {
    const auth = rigAuth('sub-1', rig.receiver.url('/token'));
    rig.put(
      rigSubscription('sub-1', { url: rig.hook(), auth, headers: [rigHeader('sub-1', 'x-api-key', 'key-4711')] }),
    );
    rig.receiver.behave(({ path, headers }) =>
      path === '/token'
        ? { type: 'respond', status: 200, body: JSON.stringify({ access_token: 'tok-4711', expires_in: 3_600 }) }
        : { type: 'respond', status: 500, body: `${String(headers.authorization)}, ${String(headers['x-api-key'])}` },
    );
    const run = await rig.run('sub-1');
    const body = run.type === 'ended' && run.result.type === 'response' ? run.result.body : undefined;
    expect(Buffer.from(body ?? []).toString()).toBe('Bearer [secret], [secret]');
  });

  it('is kept without the secret headers that it repeats, but with the others', async () => {
    const headers = [
      rigHeader('sub-1', 'x-api-key', 'key-4711'),
      { name: 'x-site', value: 'north', sealedValue: null },
    ];
    rig.put(rigSubscription('sub-1', { url: rig.hook(), headers }));
    rig.receiver.behave(({ headers: sent }) => ({
      type: 'respond',
      status: 403,
      body: `no ${String(sent['x-api-key'])} at ${String(sent['x-site'])}`,
    }));
    const run = await rig.run('sub-1');
    const body = run.type === 'ended' && run.result.type === 'response' ? run.result.body : undefined;
    expect(Buffer.from(body ?? []).toString()).toBe('no [secret] at north');
  });
});

describe('an attempt for a subscription that this process does not know', () => {
  it('waits until the topic is read to its end, and is then made', async () => {
    rig.onCaughtUp(async () => {
      await flushed();
      rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    });
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
  });

  it('is refused without a request when it was deleted; a thousand of them read the topic once', async () => {
    let asked = 0;
    rig.onCaughtUp(() => Promise.resolve(void (asked += 1)));
    for (let i = 0; i < 1_000; i++) {
      expect(await rig.run('sub-1')).toMatchObject({
        url: '',
        auth: 'none',
        result: { type: 'error', errorCode: 'subscription_deleted' },
      });
    }
    expect(asked).toBe(1);
    expect(rig.receiver.calls).toEqual([]);
  });

  it('is refused once it is deleted, although it was known before', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    await rig.run('sub-1');
    rig.remove('sub-1');
    expect(await rig.run('sub-1')).toMatchObject({ result: { errorCode: 'subscription_deleted' } });
  });

  it('is refused without a request while it is disabled (R-16)', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook(), status: 'disabled' }));
    expect(await rig.run('sub-1')).toMatchObject({ url: rig.hook(), result: { errorCode: 'subscription_disabled' } });
    expect(rig.receiver.calls).toEqual([]);
  });

  it('ends within the 5 s of the attempt as a temporary failure when the topic cannot be read (R-20)', async () => {
    rig.onCaughtUp(() => new Promise(() => undefined));
    const ended = rig.run('sub-1', { begunMsAgo: 4_800 });
    // All 5 s again would be wrong.
    expect(await settlesWithin(4_500, ended)).toBe(true);
    expect(await ended).toMatchObject({ result: { type: 'error', errorCode: 'subscription_unknown' } });
  });

  it('is aborted without a result when the process stops meanwhile', async () => {
    rig.onCaughtUp(() => new Promise(() => undefined));
    const stop = new AbortController();
    const running = rig.run('sub-1', { signal: stop.signal });
    stop.abort();
    expect(await running).toEqual({ type: 'aborted' });
  });
});
