import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { formatCredential, hashApiKey, type WebhookAttempt } from '@waypost/domain';
import { holdsFor, settlesWithin, until } from '../../../../test/support/until.js';
import { startTestApiPerTest, type TestApiOptions } from '../testing/test-api.js';
import { attemptOf, type DeliveryPlan, NOW, SUBSCRIPTIONS } from '../testing/walked-deliveries.js';
import type { AttemptLogReader, LogPosition } from './attempt-log-reader.js';
import { createStreamIds } from './stream-ids.js';

const STREAM = '/public/v2/stream';
const [A = '', B = ''] = SUBSCRIPTIONS;
const KEY = Buffer.alloc(32, 4);
const build = startTestApiPerTest({ now: () => NOW, pageTokenKeys: [KEY] });
const ids = createStreamIds([KEY]);

/** The offsets in the id of an event of a fleet. */
function offsetsOf(id: string | undefined, fleetId = 'acme'): LogPosition {
  const read = ids.read(id ?? '', fleetId);
  if (read.type === 'refused') throw new Error(read.message);
  return read.position;
}

function attempt(fleetId: string, event: number, plan: Partial<DeliveryPlan> = {}): WebhookAttempt {
  const whole = {
    event,
    series: 0,
    device: 'van-1',
    type: 'position',
    subscription: A,
    firstAttemptAt: NOW,
    answers: [200],
    ...plan,
  };
  return attemptOf(fleetId, whole, whole.answers.length);
}

/** A log that has an end. */
function logOf(
  attempts: readonly WebhookAttempt[],
): AttemptLogReader & { readonly followedFrom: (LogPosition | null)[] } {
  const followedFrom: (LogPosition | null)[] = [];
  return {
    followedFrom,
    follow: async (from, { begin, take }) => {
      followedFrom.push(from);
      begin(from ?? [7, 0]);
      const given = attempts.map((one, index) => ({ attempt: one, position: [7, index + 1] }));
      await take({ attempts: given, position: [7, attempts.length] });
    },
  };
}

/** A log to which nothing is added. */
const quiet: AttemptLogReader = {
  follow: (from, { begin }, signal) => {
    begin(from ?? [7, 0]);
    return aborted(signal);
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface ReadEvent {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function eventsIn(text: unknown): ReadEvent[] {
  const blocks = String(text)
    .split('\n\n')
    .filter((block) => block.includes('data: '));
  return blocks.map((block) => ({
    id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
    data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as ReadEvent['data'],
  }));
}

describe('GET /public/v2/stream (R-41)', () => {
  it("sends the fleet's attempts as server-sent events, and those of no other", async () => {
    const { request } = await build({
      attemptLog: logOf([attempt('acme', 1), attempt('other', 2), attempt('acme', 3)]),
    });
    const answer = await request(STREAM);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    // So that proxies hand each event on at once, and keep none.
    expect([answer.headers.get('x-accel-buffering'), answer.headers.get('cache-control')]).toEqual(['no', 'no-store']);
    const events = eventsIn(answer.body);
    expect(events.map(({ id }) => offsetsOf(id))).toEqual([
      [7, 1],
      [7, 3],
    ]);
    expect(events[0]?.data).toMatchObject({
      deviceId: 'van-1',
      subscriptionId: A,
      eventType: 'position',
      series: 0,
      attempt: 1,
      statusCode: 200,
      status: 'delivered',
    });
    expect(events[0]?.data).not.toHaveProperty('body');
  });

  it.each([
    ['', [1, 2, 3, 4]],
    [`subscriptionId=${B}`, [2]],
    ['eventType=ignition_on&eventType=position', [1, 2, 3, 4]],
    ['eventType=ignition_on', [3]],
    ['deviceId=van-2', [4]],
    ['statusCode=503', [2]],
    ['status=pending', [2]],
    ['status=failed', [4]],
    ['status=delivered&deviceId=van-2', []],
    [`eventId=${attempt('acme', 3).eventId}`, [3]],
    [`eventId=${attempt('acme', 3).eventId.toUpperCase()}&status=delivered`, [3]],
  ])('is filtered by "%s"', async (query, expected) => {
    const log = logOf([
      attempt('acme', 1),
      attempt('acme', 2, { subscription: B, answers: [503] }),
      attempt('acme', 3, { type: 'ignition_on' }),
      attempt('acme', 4, { device: 'van-2', answers: [410] }),
    ]);
    const { request } = await build({ attemptLog: log });
    const { body } = await request(`${STREAM}?${query}`);
    expect(eventsIn(body).map(({ id }) => offsetsOf(id)[1])).toEqual(expected);
  });

  it('calls a delivery pending as the history does, also after an outcome of a later release', async () => {
    const later: WebhookAttempt = { ...attempt('acme', 1), outcome: 'deferred' };
    const { request } = await build({ attemptLog: logOf([later]) });
    const [event] = eventsIn((await request(`${STREAM}?status=pending`)).body);
    expect(event?.data).toMatchObject({ status: 'pending' });
  });

  it('says when the next attempt is due while there is one', async () => {
    const { request } = await build({ attemptLog: logOf([attempt('acme', 1, { answers: [503] })]) });
    const [event] = eventsIn((await request(STREAM)).body);
    expect(event?.data).toMatchObject({ status: 'pending', nextAttemptAt: expect.stringMatching(/Z$/) as unknown });
  });

  it('continues after the event that Last-Event-ID names, and begins now without one', async () => {
    const attemptLog = logOf([]);
    const { request } = await build({ attemptLog });
    await request(STREAM, { headers: { 'last-event-id': ids.idOf([12, 0, 3456], 'acme') } });
    await request(STREAM, { headers: { 'last-event-id': '' } });
    await request(STREAM);
    expect(attemptLog.followedFrom).toEqual([[12, 0, 3456], null, null]);
  });

  it('takes an id of a log of many partitions, and one that an earlier key has sealed', async () => {
    const attemptLog = logOf([]);
    const { request } = await build({ attemptLog, pageTokenKeys: [Buffer.alloc(32, 5), KEY] });
    const position = Array.from({ length: 600 }, (_, partition) => 1_000_000_000 + partition);
    await request(STREAM, { headers: { 'last-event-id': ids.idOf(position, 'acme') } });
    expect(attemptLog.followedFrom).toEqual([position]);
  });

  const id = ids.idOf([7, 1], 'acme');
  it.each([
    ['no id', 'a=b', 'must be the id of an event'],
    ['plain offsets, as in earlier versions', '7-1', 'must be the id of an event'],
    ['a changed id', `${id.slice(0, -4)}AAAA`, 'must be the id of an event'],
    ['an id of another key', createStreamIds([Buffer.alloc(32, 9)]).idOf([7, 1], 'acme'), 'must be the id of an event'],
    ["an id of another fleet's stream", ids.idOf([7, 1], 'other'), 'another fleet'],
  ])('refuses %s as Last-Event-ID, and names it', async (_, text, message) => {
    const { request } = await build({ attemptLog: quiet });
    const answer = await request(STREAM, { headers: { 'last-event-id': text } });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_header', details: [{ header: 'Last-Event-ID' }] } });
    expect(JSON.stringify(answer.body)).toContain(message);
  });

  it('gives the same id for the same position at any time, so that a client that has it has read nothing new', () => {
    expect(ids.idOf([7, 1], 'acme')).toBe(id);
  });

  it('is open four times at most for one key, until one of them is closed', async () => {
    const { url, request, addKey } = await build({ attemptLog: quiet });
    const key = addKey('acme');
    const closing = new AbortController();
    const headers = { authorization: `Bearer ${key}` };
    const open = await Promise.all(
      [1, 2, 3, 4].map((n) => fetch(url + STREAM, { headers, signal: n === 1 ? closing.signal : null })),
    );
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await request(STREAM, { key })).status).toBe(429);
    expect((await fetch(url + STREAM, { headers: { authorization: `Bearer ${addKey('acme')}` } })).status).toBe(200);
    closing.abort();
    await until(async () => (await fetch(url + STREAM, { headers })).status === 200);
  });

  it('is open a limited number of times for a fleet with any keys, and leaves room to others', async () => {
    const { url, request, addKey } = await build({ attemptLog: quiet, maxStreamsPerFleet: 5 });
    const open = (fleetId: string, signal: AbortSignal | null = null) =>
      fetch(url + STREAM, { headers: { authorization: `Bearer ${addKey(fleetId)}` }, signal });
    const closing = new AbortController();
    const opened = [await open('acme', closing.signal)];
    while (opened.length < 5) opened.push(await open('acme'));
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const refused = await request(STREAM, { key: addKey('acme') });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(JSON.stringify(refused.body)).toMatch(/A fleet, .* may have 5 streams/);
    expect((await open('other')).status).toBe(200);
    closing.abort();
    await until(async () => (await open('acme')).status === 200);
  });

  it('ends with the process', async () => {
    const { url, addKey, close } = await build({ attemptLog: quiet });
    const answer = await fetch(url + STREAM, { headers: { authorization: `Bearer ${addKey('acme')}` } });
    const text = answer.text();
    await close();
    expect(await text).toBe(`: open\nid: ${ids.idOf([7, 0], 'acme')}\n\n`);
  });

  it('ends with its portal session, also while no one can be asked about that (R-42)', async () => {
    let nowMs = NOW;
    let isAway = false;
    const token = formatCredential('portalToken', Buffer.alloc(32, 7));
    const session = { id: 's', fleetId: 'acme', hash: hashApiKey(token), adminKeyId: null, scopes: ['events:read'] };
    const whole = { ...session, subscriptionIds: null, expiresAt: NOW + 60_000 };
    const portalSessions = { find: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(whole)) };
    const store = { portalSessions } as unknown as NonNullable<TestApiOptions['store']>;
    const { url } = await build({ attemptLog: quiet, now: () => nowMs, store });
    const answer = await fetch(url + STREAM, { headers: { authorization: `Bearer ${token}` } });
    const text = answer.text();
    isAway = true;
    nowMs += 59_999;
    expect(await settlesWithin(1_000, text)).toBe(false);
    nowMs += 1;
    expect(await text).toContain(': open');
  });

  it('of an operator stays open, whose key is in no table', async () => {
    const admin = formatCredential('adminKey', Buffer.alloc(32, 1));
    const store = { fleets: { find: () => Promise.resolve({}) } } as unknown as NonNullable<TestApiOptions['store']>;
    const { url } = await build({
      attemptLog: quiet,
      adminKeyHashes: [createHash('sha256').update(admin).digest()],
      store,
    });
    const headers = { authorization: `Bearer ${admin}`, 'x-waypost-fleet': 'acme' };
    const answer = await fetch(url + STREAM, { headers });
    expect(answer.status).toBe(200);
    expect(await settlesWithin(1_500, answer.text())).toBe(false);
  });

  it('says where it begins as soon as it is open, so that nothing is lost when it breaks off before its first event', async () => {
    const { request } = await build({ attemptLog: logOf([]) });
    const { body } = await request(STREAM);
    expect(offsetsOf(/^id: (.*)$/m.exec(String(body))?.[1])).toEqual([7, 0]);
  });

  it('is not open before the place where it begins is known', async () => {
    const reading = new AbortController();
    const slow: AttemptLogReader = {
      follow: async (from, follower, signal) => {
        await aborted(reading.signal);
        await quiet.follow(from, follower, signal);
      },
    };
    const { url, addKey } = await build({ attemptLog: slow });
    const opening = fetch(url + STREAM, { headers: { authorization: `Bearer ${addKey('acme')}` } });
    expect(await settlesWithin(100, opening)).toBe(false);
    reading.abort();
    expect((await opening).status).toBe(200);
  });

  it.each<[string, AttemptLogReader['follow']]>([
    ['the log cannot be read', () => Promise.reject(new Error('no broker'))],
    ['the process stops first', () => Promise.resolve()],
  ])('is a 503 that says when to try again if %s', async (_, follow) => {
    const { request } = await build({ attemptLog: { follow } });
    // More often than a key may have streams: what never began takes no place.
    for (let times = 0; times < 6; times += 1) {
      const answer = await request(STREAM);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    }
  });

  it('gives its place to another when its reader leaves before it has begun', async () => {
    let following = 0;
    const never: AttemptLogReader = {
      follow: async (_from, _follower, signal) => {
        following += 1;
        await aborted(signal);
        following -= 1;
      },
    };
    const { url, request, addKey } = await build({ attemptLog: never, maxStreamsPerFleet: 1 });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${addKey('acme')}` };
    const left = fetch(url + STREAM, { headers, signal: leaving.signal }).catch(() => 'left');
    await until(() => following === 1);
    expect((await request(STREAM)).status).toBe(429);
    leaving.abort();
    expect(await left).toBe('left');
    await until(() => following === 0);
  });

  it('reads no further than its reader does', async () => {
    // Far more bytes than sockets hold.
    const MAX_SLICES = 250;
    const slice = Array.from({ length: 250 }, (_, n) => attempt('acme', n));
    let slices = 0;
    const endless: AttemptLogReader = {
      follow: async (_from, { begin, take }, signal) => {
        begin([0]);
        while (!signal.aborted && slices < MAX_SLICES) {
          slices += 1;
          await take({ attempts: slice.map((one) => ({ attempt: one, position: [slices] })), position: [slices] });
        }
      },
    };
    const { url, addKey } = await build({ attemptLog: endless });
    const answer = await fetch(url + STREAM, { headers: { authorization: `Bearer ${addKey('acme')}` } });
    let before: number;
    do {
      before = slices;
      await holdsFor(300, () => true);
    } while (slices > before);
    expect(slices).toBeLessThan(MAX_SLICES);
    let read = 0;
    for await (const chunk of answer.body ?? []) read += (chunk as Uint8Array).length;
    expect(slices).toBe(MAX_SLICES);
    expect(read).toBeGreaterThan(MAX_SLICES * 250 * 100);
  });
});
