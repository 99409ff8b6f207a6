import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ATTEMPT_DEADLINE_MS, type AttemptResult, sealSigningSecret } from '@waypost/domain';
import { createEgressClient, type EgressClient } from '@waypost/egress';
import { until } from '../../../../../test/support/until.js';
import { SignedPosts } from '../../single-attempt/attempt-runner.js';
import { ClientCredentialsTokens } from '../../single-attempt/bearer-tokens.js';
import { ok, SenderHarness } from '../testing/sender-harness.js';
import {
  accepting,
  acceptingAfter,
  type Behavior,
  flapping,
  neverEnding,
  refusingUrl,
  silent,
  startEndpoint,
  type TestEndpoint,
  trickling,
  withoutBody,
} from '../testing/test-endpoint.js';

const sealingKeys = [Buffer.alloc(32, 7)];
const PER_ORIGIN = 32;

let harness: SenderHarness;
let egress: EgressClient;
let endpoints: TestEndpoint[];
let published: number;

beforeEach(async () => {
  harness = await SenderHarness.create();
  egress = createEgressClient({ allowHttp: true, allowedSubnets: ['127.0.0.0/8'] });
  endpoints = [];
  published = 0;
});

afterEach(async () => {
  await harness.stop();
  await egress.close();
  await Promise.all(endpoints.map((endpoint) => endpoint.close()));
});

function subscribe(id: string, url: string): void {
  const sealed = sealSigningSecret(Buffer.alloc(32, 1), sealingKeys, Buffer.alloc(12, 2), id);
  harness.subscribe(id, { url, secrets: [{ sealed, expiresAt: null }] });
}

async function endpoint(id: string, behavior: Behavior): Promise<TestEndpoint> {
  const made = await startEndpoint(behavior);
  endpoints.push(made);
  subscribe(id, made.url);
  return made;
}

function publish(subscriptionId: string, count: number): void {
  for (let i = 0; i < count; i++) harness.publish(++published, subscriptionId);
}

/** The sender with everything real but the broker: sockets, signatures, deadlines. */
function start() {
  const { nowMs, monotonicMs } = harness;
  const directory = { ...harness.directory, start: idle, stop: idle, caughtUp: idle, matching: () => [] };
  const tokens = new ClientCredentialsTokens({
    egress,
    permits: { during: (_owner, _origin, work) => work() },
    fleetOf: () => '',
    isWanted: () => true,
    sealingKeys,
    nowMs,
    monotonicMs,
  });
  const runner = new SignedPosts(directory, egress, tokens, { sealingKeys }, monotonicMs);
  return harness.start(undefined, {
    runner,
    limits: { perSubscription: 50 },
    slots: { perSubscription: 6, total: 64 },
    reservations: { perOrigin: PER_ORIGIN },
  });
}

function idle() {
  return Promise.resolve();
}

async function outcomesOf(subscriptionId: string) {
  return (await harness.attempts()).filter((attempt) => attempt.subscriptionId === subscriptionId);
}

async function delivered(subscriptionId: string): Promise<number> {
  return (await outcomesOf(subscriptionId)).filter(({ outcome }) => outcome === 'delivered').length;
}

describe('an endpoint that misbehaves (R-26)', () => {
  it.each([
    ['is dead: it takes connections and never answers', silent],
    ['trickles a byte a second', trickling],
    ['takes four seconds for each answer', acceptingAfter(4_000)],
  ])(
    '%s, with a flood of deliveries, while others get theirs before its first attempt is over',
    async (_, behavior) => {
      const bad = await endpoint('bad', behavior);
      for (const id of ['a', 'b', 'c']) await endpoint(id, accepting);
      publish('bad', 300);
      for (let round = 0; round < 40; round++) for (const id of ['a', 'b', 'c']) publish(id, 1);
      await start();
      await until(async () => (await harness.attempts()).length >= 120);
      const firstOfOthers = (await harness.attempts()).slice(0, 120);
      expect(firstOfOthers.filter(({ subscriptionId }) => subscriptionId === 'bad')).toEqual([]);
      expect(bad.connections).toBeGreaterThan(0);
      expect(bad.connections).toBeLessThanOrEqual(PER_ORIGIN / 2);
    },
  );

  it('refuses connections, and its immediate failures delay no other subscription', async () => {
    subscribe('bad', await refusingUrl());
    await endpoint('good', accepting);
    publish('bad', 200);
    publish('good', 40);
    await start();
    await until(async () => (await delivered('good')) === 40);
    const refused = await outcomesOf('bad');
    expect(new Set(refused.map(({ errorCode }) => errorCode))).toEqual(new Set(['connection_refused']));
    // Long before the bad ones have used up their attempts, on a busy machine too.
    expect(refused.every(({ attempt }) => attempt <= 2)).toBe(true);
  });

  it('sends an endless body, and is settled by its status line without occupying a slot', async () => {
    await endpoint('bad', neverEnding);
    await endpoint('good', accepting);
    publish('bad', 20);
    publish('good', 20);
    await start();
    await until(async () => (await delivered('good')) === 20 && (await delivered('bad')) === 20);
  });

  it('sends no body after its head, which is not waited for (R-20)', async () => {
    await endpoint('bad', withoutBody);
    publish('bad', 1);
    await start();
    await until(async () => (await delivered('bad')) === 1);
    expect((await outcomesOf('bad'))[0]?.durationMs).toBeLessThan(ATTEMPT_DEADLINE_MS);
  });

  it('flaps, and gets each delivery within five attempts without delaying others', async () => {
    await endpoint('bad', flapping);
    await endpoint('good', accepting);
    publish('bad', 10);
    publish('good', 50);
    await start();
    await until(async () => (await delivered('good')) === 50);
    // No retry is due yet: they were not waited for.
    expect(new Set((await outcomesOf('bad')).map(({ attempt }) => attempt))).toEqual(new Set([1]));
    await until(async () => (await delivered('bad')) === 10);
    const attempts = await outcomesOf('bad');
    expect(new Set(attempts.map(({ errorCode }) => errorCode))).toEqual(new Set([null, 'connection_reset']));
    expect(Math.max(...attempts.map(({ attempt }) => attempt))).toBeLessThanOrEqual(5);
  });

  it('is shared by many subscriptions: its origin stays within its limit, and others are served', async () => {
    const bad = await endpoint('bad-0', silent);
    for (let i = 1; i < 20; i++) subscribe(`bad-${String(i)}`, bad.url);
    await endpoint('good', accepting);
    for (let i = 0; i < 20; i++) publish(`bad-${String(i)}`, 10);
    publish('good', 50);
    await start();
    await until(async () => (await delivered('good')) === 50);
    expect(bad.connections).toBeGreaterThan(0);
    expect(bad.connections).toBeLessThanOrEqual(PER_ORIGIN);
  });
});

describe('retries (R-22)', () => {
  const SPEED = 10;
  const DEADLINE_MS = 5_000;

  it('start when they are due beside twenty subscriptions, two of which miss every deadline', async () => {
    const fast = await SenderHarness.create({ speed: SPEED });
    const ids = Array.from({ length: 20 }, (_, i) => `s${String(i)}`);
    for (const id of ids) fast.subscribe(id, { url: 'https://one.example.org/' });
    for (let n = 1; n <= 800; n++) fast.publish(n, ids[n % 20]);
    const late: AttemptResult = { type: 'error', errorCode: 'timeout', detail: '' };
    await fast.start(
      async ({ delivery }) => {
        if (!['s3', 's4'].includes(delivery.subscriptionId)) return { type: 'response', statusCode: 200 };
        await new Promise((resolve) => setTimeout(resolve, DEADLINE_MS / SPEED));
        return late;
      },
      { slots: { perSubscription: 64, total: 256 }, reservations: { total: 4_096, perOrigin: 512 } },
    );
    await until(async () => (await fast.attempts()).filter(({ outcome }) => outcome !== 'retrying').length === 800);
    const retries = (await fast.attempts()).filter(({ attempt }) => attempt > 1);
    const lateness = retries.map(({ startedAt, dueAt }) => startedAt - dueAt).sort((a, b) => a - b);
    // Retries that wait for others are late by whole deadlines, most of them; a busy machine delays a few by as much.
    expect(lateness).toHaveLength(2 * 40 * 4);
    expect(lateness[Math.floor(lateness.length * 0.75)]).toBeLessThan(DEADLINE_MS);
    await fast.stop();
  });
});

describe('a clock that is set (R-22)', () => {
  const HOUR_MS = 3_600_000;
  const SHORTEST_WAITS_MS = [1_600, 3_200, 6_400, 12_000];

  it.each([HOUR_MS, -HOUR_MS])('by %d ms at each attempt, and back, changes no wait', async (stepMs) => {
    const stepped = await SenderHarness.create({ speed: 20 });
    stepped.subscribe('failing');
    stepped.subscribe('paced', { rateLimitPerSecond: 4 });
    for (let n = 1; n <= 4; n++) stepped.publish(n, 'failing');
    for (let n = 5; n <= 40; n++) stepped.publish(n, 'paced');
    let steps = 0;
    const made = await stepped.start(({ delivery: { subscriptionId }, attempt }) => {
      stepped.stepClock(steps++ % 2 === 0 ? stepMs : -stepMs);
      if (subscriptionId === 'paced') return ok;
      return { type: 'response', statusCode: attempt === 1 ? 429 : 503, retryAfter: attempt === 1 ? '2' : null };
    });
    await until(async () => (await stepped.attempts()).filter(({ outcome }) => outcome !== 'retrying').length === 40);
    await stepped.stop();
    for (let n = 1; n <= 4; n++) {
      const starts = made.filter(({ delivery }) => delivery.eventId === `event-${String(n)}`);
      const waits = starts
        .slice(1)
        .map(({ started }, i) => started.monotonicMs - (starts[i]?.started.monotonicMs ?? NaN));
      for (const [i, leastMs] of SHORTEST_WAITS_MS.entries()) expect(waits[i]).toBeGreaterThanOrEqual(leastMs);
    }
    for (const { startedAt, dueAt, durationMs } of await stepped.attempts()) {
      expect(durationMs).toBeLessThan(HOUR_MS / 2);
      expect(Math.abs(startedAt - dueAt)).toBeLessThan(HOUR_MS / 2);
    }
  });
});

describe('a rate limit (R-16)', () => {
  beforeEach(async () => {
    await harness.stop();
    harness = await SenderHarness.create({ speed: 50 });
    harness.subscribe('free');
    harness.subscribe('paced', { rateLimitPerSecond: 2 });
  });

  it('spaces the attempts of its own subscription only', async () => {
    for (let n = 1; n <= 6; n++) harness.publish(n, 'paced');
    for (let n = 7; n <= 40; n++) harness.publish(n, 'free');
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 40);
    const startsOf = (id: string): number[] =>
      made.filter(({ delivery }) => delivery.subscriptionId === id).map(({ started }) => started.epochMs);
    const paced = startsOf('paced');
    // A real millisecond is 50 here, so the first start may be recorded late.
    for (const [i, at] of paced.entries()) expect(at - (paced[0] ?? 0)).toBeGreaterThanOrEqual((i - 1) * 500);
    const free = startsOf('free');
    expect(free.some((at, i) => i > 0 && at - (free[i - 1] ?? 0) < 500)).toBe(true);
  });
});
