import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AttemptRig, rigAuth, rigSubscription, startAttemptRig } from '../../../../test/support/attempt-rig.js';
import type { Answer, Behavior, ReceivedCall } from '../../../../test/support/receiver.js';
import { until } from '../../../../test/support/until.js';

const HOUR_MS = 3_600_000;
const CLIENT_SECRET = 'correct horse';
/** A busy machine may be late, but a deadline that starts again would take 5 s. */
const SLACK_MS = 4_000;

let rig: AttemptRig;

function status(code: number, more: Partial<Answer & { type: 'respond' }> = {}): Answer {
  return {
    type: 'respond',
    status: code,
    ...more,
  };
}
function tokenAnswer(fields: object, more: Partial<Answer & { type: 'respond' }> = {}): Answer {
  return status(200, { body: JSON.stringify(fields), ...more });
}
function nthToken(): Answer {
  return tokenAnswer({ access_token: `token-${String(tokenRequests())}`, token_type: 'Bearer', expires_in: 3_600 });
}

function tokenRequests(path = '/token'): number {
  return rig.receiver.callsTo(path).length;
}
function tokensAt(path: string): (string | undefined)[] {
  return rig.receiver.callsTo(path).map(({ headers }) => headers.authorization);
}
function times<T>(n: number, make: () => T): T[] {
  return Array.from({ length: n }, make);
}

function behave(answers: Record<string, (call: ReceivedCall) => Answer>): void {
  const behavior: Behavior = (call) => answers[call.path]?.(call) ?? status(404);
  rig.receiver.behave(behavior);
}

function subscribe(id = 'sub-1', { tokenPath = '/token', secret = CLIENT_SECRET, version = 1 } = {}): void {
  const auth = rigAuth(id, rig.receiver.url(tokenPath), secret);
  rig.put(rigSubscription(id, { url: rig.receiver.url('/hook'), auth, version }));
}

async function elapsed<T>(work: () => Promise<T>): Promise<{ ended: T; ms: number }> {
  const from = performance.now();
  const ended = await work();
  return { ended, ms: performance.now() - from };
}

function tokenError(detail: unknown = expect.any(String)) {
  return {
    type: 'ended',
    auth: 'bearer',
    result: { type: 'error', errorCode: 'token_error', detail },
  };
}

beforeEach(async () => {
  rig = await startAttemptRig();
  behave({ '/token': nthToken, '/hook': () => status(200) });
  subscribe();
});

afterEach(() => rig.close());

describe('a token (R-23)', () => {
  it('is requested once for a hundred concurrent deliveries', async () => {
    behave({ '/token': () => ({ ...nthToken(), delayMs: 50 }) as Answer, '/hook': () => status(200) });
    const courses = await Promise.all(times(100, () => rig.deliver('sub-1')));
    expect(courses.every(({ decisions }) => decisions.at(-1)?.outcome === 'delivered')).toBe(true);
    expect(tokenRequests()).toBe(1);
    expect(new Set(tokensAt('/hook'))).toEqual(new Set(['Bearer token-1']));
  });

  it('may be long: one of 8,000 characters is used', async () => {
    const token = 'x'.repeat(8_000);
    behave({ '/token': () => tokenAnswer({ access_token: token, expires_in: 3_600 }), '/hook': () => status(200) });
    await rig.run('sub-1');
    expect(tokensAt('/hook')).toEqual([`Bearer ${token}`]);
  });

  it('is kept until 60 s before it expires', async () => {
    await rig.run('sub-1');
    rig.advance(3_539_000);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(1);
    rig.advance(1_000);
    await rig.run('sub-1');
    expect(tokensAt('/hook')).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it.each([HOUR_MS, -HOUR_MS])('is kept for as long when the clock is set by %d ms meanwhile', async (stepMs) => {
    await rig.run('sub-1');
    rig.stepClock(stepMs);
    rig.advance(3_539_000);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(1);
    rig.advance(1_000);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(2);
  });

  it.each([HOUR_MS, -HOUR_MS])('is waited for though the clock is set by %d ms meanwhile', async (stepMs) => {
    behave({
      '/token': () => {
        rig.stepClock(stepMs);
        return nthToken();
      },
      '/hook': () => status(200),
    });
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
  });

  it('of one subscription is not used for another with the same client', async () => {
    subscribe('sub-2');
    await rig.run('sub-1');
    await rig.run('sub-2');
    expect(tokensAt('/hook')).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it.each(['token endpoint', 'client secret'])(
    'of a changed %s is not used any more, from the next attempt on',
    async (what) => {
      behave({
        '/token': nthToken,
        '/other': () => tokenAnswer({ access_token: 'other' }),
        '/hook': () => status(200),
      });
      await rig.run('sub-1');
      subscribe(
        'sub-1',
        what === 'client secret' ? { secret: 'new', version: 2 } : { tokenPath: '/other', version: 2 },
      );
      await rig.run('sub-1');
      expect(tokensAt('/hook')[1]).toBe(what === 'client secret' ? 'Bearer token-2' : 'Bearer other');
    },
  );

  it('is requested at once from a changed endpoint, although the old one hangs', async () => {
    behave({
      '/token': () => ({ type: 'hang' }),
      '/other': () => tokenAnswer({ access_token: 'other' }),
      '/hook': () => status(200),
    });
    const hanging = rig.run('sub-1', { begunMsAgo: 4_500 });
    await until(() => tokenRequests() === 1);
    subscribe('sub-1', { tokenPath: '/other', version: 2 });
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
    expect(await hanging).toMatchObject(tokenError());
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
  });

  it('is kept when only the rest of the subscription changes', async () => {
    await rig.run('sub-1');
    subscribe('sub-1', { version: 2 });
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(1);
  });
});

describe('a 401 (R-23)', () => {
  const refusesFirstToken = ({ headers }: ReceivedCall): Answer =>
    status(headers.authorization === 'Bearer token-1' ? 401 : 200, { delayMs: 50 });

  it('that a hundred deliveries in flight meet makes one renewal, and all are accepted at their second attempt', async () => {
    behave({ '/token': nthToken, '/hook': refusesFirstToken });
    await rig.run('sub-1');
    const courses = await Promise.all(times(100, () => rig.deliver('sub-1')));
    for (const { decisions } of courses) {
      expect(decisions.map(({ outcome, decision }) => [outcome, decision])).toEqual([
        ['retrying', 'unauthorized'],
        ['delivered', 'accepted'],
      ]);
    }
    expect(tokenRequests()).toBe(2);
    expect(tokensAt('/hook').filter((token) => token === 'Bearer token-2')).toHaveLength(100);
  });

  it('causes one renewal even when the token server returns the same token again', async () => {
    const hook = ({ headers, nth }: ReceivedCall): Answer =>
      headers['x-service-attempt'] === '1' ? status(401, { delayMs: 200 + nth * 2 }) : status(200);
    behave({ '/token': () => tokenAnswer({ access_token: 'same' }), '/hook': hook });
    const courses = await Promise.all(times(100, () => rig.deliver('sub-1')));
    expect(courses.every(({ decisions }) => decisions.at(-1)?.outcome === 'delivered')).toBe(true);
    expect(tokenRequests()).toBe(2);
  });

  it('that arrives late for the old token does not discard the new one', async () => {
    const hook = ({ headers, nth }: ReceivedCall): Answer =>
      headers.authorization === 'Bearer token-1' ? status(401, { delayMs: nth === 1 ? 300 : 0 }) : status(200);
    behave({ '/token': nthToken, '/hook': hook });
    const late = rig.deliver('sub-1');
    await until(() => rig.receiver.callsTo('/hook').length === 1);
    expect((await rig.deliver('sub-1')).decisions).toHaveLength(2);
    expect((await late).decisions.at(-1)).toMatchObject({ outcome: 'delivered' });
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(2);
  });

  it('to every token is tried again at once only the first time', async () => {
    behave({ '/token': nthToken, '/hook': () => status(401) });
    const { decisions } = await rig.deliver('sub-1');
    expect(decisions).toHaveLength(2);
    expect(tokensAt('/hook')).toEqual(['Bearer token-1', 'Bearer token-2']);
    await rig.run('sub-1');
    expect(tokensAt('/hook')[2]).toBe('Bearer token-3');
  });
});

describe('a lifetime', () => {
  it.each([
    ['a number as text', '3600', 3_539_000],
    ['none', undefined, 239_000],
    ['null', null, 239_000],
    ['words', 'an hour', 239_000],
    ['an empty text', '', 239_000],
    ['an object', {}, 239_000],
    ['more than any number', '1e999', 239_000],
  ])('given as %s keeps the token for as long as it says, or for 4 minutes', async (_what, expires_in, keptMs) => {
    behave({ '/token': () => tokenAnswer({ access_token: 'a', expires_in }), '/hook': () => status(200) });
    await rig.run('sub-1');
    rig.advance(keptMs);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(1);
    rig.advance(1_000);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(2);
  });

  it.each([60, 59, 1, 0, -1, -3_600, '0', '-5'])(
    'of %s s serves those who need a token now, and none a second later',
    async (expires_in) => {
      behave({ '/token': () => tokenAnswer({ access_token: 'a', expires_in }), '/hook': () => status(200) });
      await Promise.all(times(20, () => rig.run('sub-1')));
      expect(rig.receiver.callsTo('/hook')).toHaveLength(20);
      expect(tokenRequests()).toBe(1);
      rig.advance(1_000);
      await rig.run('sub-1');
      expect(tokenRequests()).toBe(2);
    },
  );
});

describe('an answer without a token', () => {
  const echo = ({ headers }: ReceivedCall, code: number): Answer =>
    status(code, {
      body: `{"error":"invalid_client","error_description":"${headers.authorization ?? ''} ${CLIENT_SECRET}"}`,
    });

  it.each<readonly [string, (call: ReceivedCall) => Answer, RegExp]>([
    ['that is not JSON', () => status(200, { body: '<html>' }), /JSON/],
    ['that is empty', () => status(200), /JSON/],
    ['that is a JSON null', () => status(200, { body: 'null' }), /JSON/],
    ['that is a JSON list', () => status(200, { body: '["a"]' }), /access_token/],
    ['that names none', () => tokenAnswer({ token_type: 'bearer' }), /access_token/],
    ['that names an empty one', () => tokenAnswer({ access_token: '' }), /access_token/],
    ['that names a number', () => tokenAnswer({ access_token: 7 }), /access_token/],
    ['whose token has a line end', () => tokenAnswer({ access_token: 'a\r\nx-admin: yes' }), /access_token/],
    ['whose token has a final line end', () => tokenAnswer({ access_token: 'a\n' }), /access_token/],
    ['whose token has a space', () => tokenAnswer({ access_token: 'a b' }), /access_token/],
    ['whose token is not ASCII', () => tokenAnswer({ access_token: 'tökén' }), /access_token/],
    ['whose token is of another kind', () => tokenAnswer({ access_token: 'a', token_type: 'mac' }), /bearer/],
    ['that is huge', () => tokenAnswer({ pad: 'x'.repeat(1_000_000), access_token: 'a' }), /longer/],
    ['that redirects', () => status(302, { headers: { location: rig.receiver.url('/elsewhere') } }), /302/],
    ['that refuses the client', (call) => echo(call, 401), /401/],
    ['that says 400', (call) => echo(call, 400), /400/],
    ['that says 500', (call) => echo(call, 500), /500/],
    ['that is a broken connection', () => ({ type: 'reset' }), /connection_reset/],
  ])('%s is a temporary failure: nothing is sent, and no secret is shown', async (_what, answer, detail) => {
    behave({ '/token': answer, '/hook': () => status(200) });
    const { runs, decisions } = await rig.deliver('sub-1');
    expect(runs).toEqual([expect.objectContaining(tokenError(expect.stringMatching(detail)))]);
    expect(decisions).toEqual([expect.objectContaining({ outcome: 'retrying', decision: 'temporary_error' })]);
    expect(rig.receiver.calls.map(({ path }) => path)).toEqual(['/token']);
    expect(JSON.stringify(runs)).not.toMatch(/correct|horse|Basic|x-admin/);
  });

  it('is over as soon as a later request gets a token', async () => {
    behave({ '/token': () => (tokenRequests() === 1 ? status(500) : nthToken()), '/hook': () => status(200) });
    await rig.run('sub-1');
    rig.advance(1_600);
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
  });
});

describe('a failing token endpoint', () => {
  it('is not asked by each of thousands of deliveries, but after 1, 2, 4, 8 and then every 15 s', async () => {
    behave({ '/token': () => status(500) });
    rig.freeze();
    const askedAt: number[] = [];
    for (let second = 0; second < 62; second++) {
      const before = tokenRequests();
      const runs = await Promise.all(times(100, () => rig.run('sub-1')));
      for (const run of runs) expect(run).toMatchObject(tokenError());
      if (tokenRequests() > before) askedAt.push(second);
      rig.advance(1_000);
    }
    expect(askedAt).toEqual([0, 1, 3, 7, 15, 30, 45, 60]);
    expect(tokenRequests()).toBe(8);
  });

  it('is asked at each scheduled retry of a single delivery, however short the retry delay', async () => {
    behave({ '/token': () => status(500) });
    for (const shortestWaitMs of [1_600, 3_200, 6_400, 12_000, 0]) {
      await rig.run('sub-1');
      rig.advance(shortestWaitMs);
    }
    expect(tokenRequests()).toBe(5);
  });

  it.each([
    ['7', 7_000],
    ['3600', 15_000],
    ['0', 1_000],
  ])('that asks to be left alone for %s s is, for %d ms', async (retryAfter, leftAloneMs) => {
    behave({ '/token': () => status(429, { headers: { 'retry-after': retryAfter } }) });
    rig.freeze();
    await rig.run('sub-1');
    rig.advance(leftAloneMs - 500);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(1);
    rig.advance(500);
    await rig.run('sub-1');
    expect(tokenRequests()).toBe(2);
  });

  it('does not affect another subscription', async () => {
    behave({
      '/token': () => ({ type: 'hang' }),
      '/other': () => tokenAnswer({ access_token: 'a' }),
      '/hook': () => status(200),
    });
    subscribe('sub-2', { tokenPath: '/other' });
    const stop = new AbortController();
    const waiting = times(50, () => rig.run('sub-1', { signal: stop.signal }));
    const first = await Promise.race([rig.run('sub-2'), ...waiting]);
    expect(first).toMatchObject({ result: { statusCode: 200 } });
    stop.abort();
    await Promise.all(waiting);
  });
});

describe('a slow token endpoint', () => {
  it('takes no more than the rest of the 5 s of the attempt (R-20)', async () => {
    behave({ '/token': () => ({ type: 'hang' }) });
    const { ended, ms } = await elapsed(() => rig.run('sub-1', { begunMsAgo: 4_700 }));
    expect(ended).toMatchObject(tokenError());
    expect(ms).toBeGreaterThanOrEqual(295);
    expect(ms).toBeLessThan(300 + SLACK_MS);
  });

  it('leaves the POST only the remaining time', async () => {
    behave({ '/token': () => ({ ...nthToken(), delayMs: 400 }) as Answer, '/hook': () => ({ type: 'hang' }) });
    const { ended, ms } = await elapsed(() => rig.run('sub-1', { begunMsAgo: 4_000 }));
    expect(ended).toMatchObject({ result: { type: 'error', errorCode: 'timeout' } });
    expect(rig.receiver.callsTo('/hook')).toHaveLength(1);
    expect(ms).toBeGreaterThanOrEqual(995);
    expect(ms).toBeLessThan(1_000 + SLACK_MS);
  });

  it('keeps its response: later deliveries use the token', async () => {
    behave({ '/token': () => ({ ...nthToken(), delayMs: 400 }) as Answer, '/hook': () => status(200) });
    expect(await rig.run('sub-1', { begunMsAgo: 4_900 })).toMatchObject(tokenError());
    expect(await rig.run('sub-1')).toMatchObject({ result: { statusCode: 200 } });
    expect(tokenRequests()).toBe(1);
  });

  it('that has failed delays one attempt for its deadline and the others for a quarter of a second', async () => {
    behave({ '/token': () => (tokenRequests() === 1 ? status(500) : { type: 'hang' }) });
    await rig.run('sub-1');
    rig.advance(1_000);
    const first = elapsed(() => rig.run('sub-1', { begunMsAgo: 4_000 }));
    const others = await elapsed(() => Promise.all(times(30, () => rig.run('sub-1'))));
    for (const run of others.ended) expect(run).toMatchObject(tokenError());
    expect(others.ms).toBeLessThan(250 + SLACK_MS);
    expect((await first).ms).toBeGreaterThanOrEqual(995);
    expect(tokenRequests()).toBe(2);
  });

  it('is not awaited by an attempt that starts while the process stops', async () => {
    behave({ '/token': () => ({ type: 'hang' }) });
    const { ended, ms } = await elapsed(() => rig.run('sub-1', { signal: AbortSignal.abort() }));
    expect(ended).toEqual({ type: 'aborted' });
    expect(ms).toBeLessThan(SLACK_MS);
  });

  it('is not awaited when the process stops: the attempt is aborted', async () => {
    behave({ '/token': () => ({ type: 'hang' }) });
    const stop = new AbortController();
    const running = rig.run('sub-1', { signal: stop.signal });
    stop.abort();
    expect(await running).toEqual({ type: 'aborted' });
  });
});
