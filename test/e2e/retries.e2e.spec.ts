import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Attempt, readLogs } from '../support/places.js';
import { type Answer, type Behavior, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { signatureProblem } from '../support/signature-problem.js';
import { subscribe, type Subscription } from '../support/subscriptions.js';
import { sharedDataDir } from '../support/waypost-config.js';
import { endOf } from './delivery-attempts.js';

const fleet = 'retries';
const ping = { deviceId: 'van-1', eventTime: '2026-05-04T08:00:00.000Z', latitude: 52.1, longitude: 11.6 };
const client = { clientId: 'waypost', clientSecret: 'correct horse' };
/** Times of the log are whole milliseconds. */
const roundingMs = 1;

const waypost = runningWaypost(sharedDataDir());
const subscriptions = new Map<string, Subscription>();
const signatureProblems: string[] = [];
let receiver: Receiver;
let attempts: readonly Attempt[];

function status(code: number, headers: Record<string, string> = {}): Answer {
  return { type: 'respond', status: code, headers };
}

const scripts: Readonly<Record<string, readonly Answer[]>> = {
  '/recovers': [status(500), status(429, { 'retry-after': '5' }), status(200)],
  '/refuses': [status(400)],
  '/redirects': [status(302, { location: '/elsewhere' })],
};

const behave: Behavior = (call) => {
  if (call.path === '/token') return issueToken();
  const subscription = subscriptions.get(call.path);
  const problem = subscription ? signatureProblem(call, subscription.secret) : `no subscription has ${call.path}`;
  if (problem !== null) signatureProblems.push(problem);
  // Only the second token is accepted.
  if (call.path === '/protected') return status(call.headers.authorization === 'Bearer token-2' ? 200 : 401);
  return scripts[call.path]?.[call.nth - 1] ?? status(404);
};

function issueToken(): Answer {
  const access_token = `token-${String(receiver.callsTo('/token').length)}`;
  const body = JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 3_600 });
  return { type: 'respond', status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** Bearer auth can be set by the API only, not on the command line. */
async function subscribeProtected(): Promise<Subscription> {
  const path = '/public/v1/webhook-subscriptions';
  const { data } = await waypost.api<{ data: [Subscription] }>(fleet, 'POST', path, {
    eventTypes: ['position'],
    url: receiver.url('/protected'),
    auth: { type: 'bearer', tokenUrl: receiver.url('/token'), ...client, scope: 'fleet events' },
  });
  return { ...data[0], deviceIds: null };
}

function attemptsTo(path: string): readonly Attempt[] {
  return attempts.filter(({ subscriptionId }) => subscriptionId === subscriptions.get(path)?.id);
}

/** What the log says of each attempt, without its times. */
function course(path: string): unknown[] {
  return attemptsTo(path).map(({ attempt, statusCode, outcome, decision }) => [attempt, statusCode, outcome, decision]);
}

/** From the end of each attempt to the time when the next one is due, and to its start. */
function waits(path: string): { readonly dueAfterMs: number; readonly lateMs: number }[] {
  const all = attemptsTo(path);
  return all.slice(1).map((retry, index) => {
    const before = all[index];
    return { dueAfterMs: retry.dueAt - (before ? endOf(before) : NaN), lateMs: retry.startedAt - retry.dueAt };
  });
}

/** Both parts are form-encoded before they are joined (RFC 6749, 2.3.1). */
function basicCredentials(authorization = ''): (string | null)[] {
  const joined = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  return joined.split(':').map((part) => new URLSearchParams(`part=${part}`).get('part'));
}

beforeAll(async () => {
  receiver = await startReceiver(behave);
  await waypost.cli('fleet', 'create', fleet);
  for (const path of Object.keys(scripts)) {
    const [created] = await subscribe(waypost, { fleet, url: receiver.url(path), types: ['position'] });
    if (created !== undefined) subscriptions.set(path, created);
  }
  subscriptions.set('/protected', await subscribeProtected());
  await waypost.publish(fleet, [ping]);
  await waypost.cli('wait', '--idle', '1');
  attempts = (await readLogs(waypost)).attempts.filter(({ fleetId }) => fleetId === fleet);
}, 120_000);

afterAll(() => receiver.close());

describe('A receiver that fails for a while (R-22)', () => {
  it('gets the same event until it accepts it, and never again', () => {
    expect(course('/recovers')).toEqual([
      [1, 500, 'retrying', 'temporary_status'],
      [2, 429, 'retrying', 'temporary_status'],
      [3, 200, 'delivered', 'accepted'],
    ]);
    const calls = receiver.callsTo('/recovers');
    expect(calls.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(calls.map(({ body }) => body.toString())).size).toBe(1);
  });

  it('is given 2 s, more or less by a fifth, after the first attempt, and the time of its Retry-After after the second', () => {
    const [first, second] = waits('/recovers');
    expect(first?.dueAfterMs).toBeGreaterThanOrEqual(1_600 - roundingMs);
    expect(first?.dueAfterMs).toBeLessThanOrEqual(2_400 + roundingMs);
    // 4 s by the schedule, which Retry-After raises to 5 s.
    expect(Math.abs((second?.dueAfterMs ?? NaN) - 5_000)).toBeLessThanOrEqual(roundingMs);
  });

  it('gets no attempt before it is due', () => {
    const [first, second, third] = receiver.callsTo('/recovers').map(({ receivedAt }) => receivedAt);
    expect((second ?? NaN) - (first ?? NaN)).toBeGreaterThanOrEqual(1_600);
    expect((third ?? NaN) - (second ?? NaN)).toBeGreaterThanOrEqual(5_000);
    for (const { lateMs } of waits('/recovers')) expect(lateMs).toBeGreaterThanOrEqual(0);
  });
});

describe('A receiver that refuses (R-21)', () => {
  it('gets one attempt, and the delivery has failed', () => {
    expect(course('/refuses')).toEqual([[1, 400, 'failed', 'permanent_status']]);
    expect(receiver.callsTo('/refuses')).toHaveLength(1);
  });

  it('is not followed to another place', () => {
    expect(course('/redirects')).toEqual([[1, 302, 'failed', 'redirect_refused']]);
    expect(receiver.callsTo('/elsewhere')).toEqual([]);
  });
});

describe('A receiver that does not take the token (R-23)', () => {
  it('gets the event with a new one at once', () => {
    expect(course('/protected')).toEqual([
      [1, 401, 'retrying', 'unauthorized'],
      [2, 200, 'delivered', 'accepted'],
    ]);
    const tokens = receiver.callsTo('/protected').map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-2']);
    const [wait] = waits('/protected');
    expect(Math.abs(wait?.dueAfterMs ?? NaN)).toBeLessThanOrEqual(roundingMs);
  });

  it('receives one request per token, with client credentials', () => {
    const calls = receiver.callsTo('/token');
    for (const { headers, body } of calls) {
      expect(basicCredentials(headers.authorization)).toEqual([client.clientId, client.clientSecret]);
      expect(Object.fromEntries(new URLSearchParams(body.toString()))).toEqual({
        grant_type: 'client_credentials',
        scope: 'fleet events',
      });
    }
    expect(calls).toHaveLength(2);
  });
});

describe('Every attempt (R-24)', () => {
  it('is signed', () => expect(signatureProblems).toEqual([]));

  it('has a span of its own in the one trace of the ping (R-46)', () => {
    const sent = receiver.calls.filter(({ path }) => path !== '/token').map(({ headers }) => headers['traceparent']);
    for (const each of sent) expect(each).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(new Set(sent.map((each) => String(each).split('-')[1])).size).toBe(1);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent).toHaveLength(7);
  });

  it('is in v2 with its status code', async () => {
    const history = await waypost.cliLines<{
      subscriptionId: string;
      delivery: { status: string; attempts: { statusCode: number }[] };
    }>('history', '--fleet', fleet);
    const found = history.map(({ subscriptionId, delivery: { status: ended, attempts: all } }) => {
      const path = [...subscriptions].find(([, { id }]) => id === subscriptionId)?.[0];
      return [path, ended, ...all.map(({ statusCode }) => statusCode)].join(' ');
    });
    expect(found.sort()).toEqual([
      '/protected delivered 401 200',
      '/recovers delivered 500 429 200',
      '/redirects failed 302',
      '/refuses failed 400',
    ]);
  });
});
