import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import { flushed, until } from '../../../../../test/support/until.js';
import type { AttemptRequest } from '../../single-attempt/attempt-runner.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';

/** As 5,000 are to the 4,096 reservations of a process. */
const SUSPENDED = 100;
const RESERVATIONS = { total: 82, perOrigin: 82 };
const SILENT_MS = 5_000;
const PROBE_EVERY_MS = 15_000;

let clock: ManualClock;
let harness: SenderHarness;
let probed: Map<string, number[]>;

beforeEach(async () => {
  clock = new ManualClock();
  harness = await SenderHarness.create({ clock });
  probed = new Map();
});

afterEach(async () => {
  let isStopped = false;
  const stopped = harness.stop().then(() => (isStopped = true));
  // Attempts in flight are aborted after a grace period.
  await clock.passUntil(() => isStopped, { stepMs: 20 });
  await stopped;
});

function suspend(id: string, { forMs = 60_000, fleetId = 'down' } = {}): void {
  harness.subscribe(id, { onOutage: 'hold', fleetId });
  const suspendedAt = Math.round(harness.nowMs() - forMs);
  const nothingElse = { subscriptionId: id, parkedFrom: null, foldFrom: null, failedDays: [] };
  harness.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
}

function suspendMany(forMs: number): void {
  for (let n = 1; n <= SUSPENDED; n++) {
    suspend(`suspended-${String(n)}`, { forMs });
    harness.publish(n, `suspended-${String(n)}`);
  }
}

/** The fleet that is down answers nothing, and everyone else at once. */
function answer({ delivery: { subscriptionId }, started }: AttemptRequest): AttemptResult | Promise<AttemptResult> {
  probed.set(subscriptionId, [...(probed.get(subscriptionId) ?? []), started.monotonicMs]);
  if (harness.subscriptions.get(subscriptionId)?.fleetId !== 'down') return ok;
  return new Promise((resolve) => clock.after(SILENT_MS, () => resolve(unavailable)));
}

async function passMs(ms: number, stepMs = 1_000): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    clock.passMs(stepMs);
    await flushed();
  }
}

describe('the probes of a hundred suspended subscriptions of one fleet (R-26, R-29)', () => {
  it('wait for reservations: the fleet keeps to a third, and a delivery of another fleet begins at once', async () => {
    suspendMany(0);
    harness.subscribe('healthy', { fleetId: 'healthy' });
    await harness.start(answer, { reservations: RESERVATIONS });
    await until(() => harness.pending === SUSPENDED);
    await passMs(PROBE_EVERY_MS + 1_000);
    expect(harness.reserved).toBeGreaterThan(RESERVATIONS.total / 4);
    expect(harness.reserved).toBeLessThanOrEqual(RESERVATIONS.total / 3 + 1);
    harness.publish(SUSPENDED + 1, 'healthy');
    await until(() => probed.has('healthy'));
    expect(harness.reserved).toBeLessThanOrEqual(RESERVATIONS.total / 3 + 2);
  });

  it('come round to all of them, and are never less than 15 s apart', async () => {
    suspendMany(0);
    await harness.start(answer, { reservations: RESERVATIONS });
    await until(() => harness.pending === SUSPENDED);
    await passMs(4 * PROBE_EVERY_MS);
    expect(probed.size).toBe(SUSPENDED);
    const spacings = [...probed.values()].flatMap((atMs) => atMs.slice(1).map((at, i) => at - (atMs[i] ?? NaN)));
    expect(spacings.length).toBeGreaterThan(SUSPENDED / 2);
    expect(Math.min(...spacings)).toBeGreaterThanOrEqual(PROBE_EVERY_MS);
  });

  it('do not all start together when there was no sender for a while', async () => {
    suspendMany(10 * 60_000);
    let draws = 0;
    const random = (): number => (draws++ % SUSPENDED) / SUSPENDED;
    await harness.start(answer, { reservations: { total: 4_096, perOrigin: 512 }, random });
    await until(() => harness.pending === SUSPENDED);
    await passMs(PROBE_EVERY_MS);
    expect(probed.size).toBe(SUSPENDED);
    const perSecond = new Map<number, number>();
    for (const [first = NaN] of probed.values()) {
      const second = Math.floor(first / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    expect(Math.max(...perSecond.values())).toBeLessThan(SUSPENDED / 4);
  });
});

describe('a suspended subscription (R-29)', () => {
  it('has its probe in turn though its fleet has more waiting than reservations', async () => {
    const dead = 40;
    for (let n = 1; n <= dead; n++) harness.subscribe(`dead-${String(n)}`, { fleetId: 'down' });
    suspend('repaired', { forMs: 0, fleetId: 'down' });
    for (let n = 1; n <= 3 * dead; n++) harness.publish(n, `dead-${String((n % dead) + 1)}`);
    harness.publish(3 * dead + 1, 'repaired');
    const answers = (request: AttemptRequest): AttemptResult | Promise<AttemptResult> =>
      request.delivery.subscriptionId === 'repaired' ? ok : answer(request);
    const made = await harness.start(answers, { reservations: { total: 24, perOrigin: 24 } });
    const isResumed = async (): Promise<boolean> =>
      (await harness.operations()).some(
        ({ type, subscriptionId }) => type === 'resumed' && subscriptionId === 'repaired',
      );
    for (let passedMs = 0; passedMs < 10 * 60_000 && !(await isResumed()); passedMs += 5_000) await passMs(5_000);
    expect(await isResumed()).toBe(true);
    expect(made.filter(({ delivery }) => delivery.subscriptionId === 'repaired')).toHaveLength(1);
  });

  it('is probed at once with what comes when nothing was left for the last probe', async () => {
    suspend('empty', { fleetId: 'else' });
    await harness.start(answer);
    await passMs(2 * PROBE_EVERY_MS);
    harness.publish(1, 'empty');
    const publishedMs = clock.atMs;
    await clock.passUntil(() => probed.has('empty'), { stepMs: 10 });
    expect(clock.atMs - publishedMs).toBeLessThan(PROBE_EVERY_MS / 2);
  });

  it('costs a timer every 15 s, also when nothing of it is left', async () => {
    suspend('empty', { fleetId: 'else' });
    await harness.start(answer);
    const after = clock.after.bind(clock);
    let timers = 0;
    clock.after = (delayMs, run) => {
      if (delayMs >= 1_000) timers++;
      return after(delayMs, run);
    };
    await passMs(10 * PROBE_EVERY_MS);
    expect(timers).toBeLessThanOrEqual(12);
  });

  it('is paused while its probe waits for a reservation: it is not sent, and is when it is active again (R-16)', async () => {
    harness.subscribe('dead', { fleetId: 'down' });
    for (let n = 1; n <= 20; n++) harness.publish(n, 'dead');
    suspend('held', { forMs: 0, fleetId: 'down' });
    harness.publish(21, 'held');
    const made = await harness.start(answer, { reservations: { total: 3, perOrigin: 3 } });
    await until(() => harness.pending === 21);
    await passMs(PROBE_EVERY_MS);
    expect(probed.has('held')).toBe(false);
    harness.subscribe('held', { onOutage: 'hold', fleetId: 'down', status: 'paused' });
    await passMs(3 * 60_000, 5_000);
    expect(probed.has('held')).toBe(false);
    harness.subscribe('held', { onOutage: 'hold', fleetId: 'else' });
    for (let passedMs = 0; passedMs < 60_000 && !probed.has('held'); passedMs += 1_000) await passMs(1_000);
    expect(made.filter(({ delivery }) => delivery.subscriptionId === 'held')).toHaveLength(1);
  });

  it('is probed also when its order becomes strict while the probe waits for a reservation (R-28)', async () => {
    harness.subscribe('dead', { fleetId: 'down' });
    for (let n = 1; n <= 2; n++) harness.publish(n, 'dead');
    suspend('held', { forMs: 0, fleetId: 'down' });
    harness.publish(3, 'held');
    await harness.start(answer, { reservations: { total: 3, perOrigin: 3 } });
    await until(() => harness.pending === 3);
    await passMs(PROBE_EVERY_MS);
    expect(probed.has('held')).toBe(false);
    harness.subscribe('held', { onOutage: 'hold', fleetId: 'down', strictOrder: true });
    for (let passedMs = 0; passedMs < 5 * 60_000 && !probed.has('held'); passedMs += 5_000) await passMs(5_000);
    expect(probed.get('held')).toHaveLength(1);
  });

  it('leaves memory while its probe waits for a reservation: nothing of it is lost, and nothing is sent twice', async () => {
    harness.subscribe('held', { onOutage: 'hold', fleetId: 'down' });
    harness.leaveFailing(5 * 60_000, 'held');
    let isRepaired = false;
    const ofHeld = new Map<string, number>();
    const answers = (request: AttemptRequest): AttemptResult | Promise<AttemptResult> => {
      const { subscriptionId, eventId } = request.delivery;
      if (subscriptionId !== 'held') return answer(request);
      ofHeld.set(eventId, (ofHeld.get(eventId) ?? 0) + 1);
      if (isRepaired) return ok;
      // It is in flight when the hold begins, and when the first probe is due.
      if (eventId === 'event-1') return new Promise((resolve) => clock.after(20_000, () => resolve(unavailable)));
      return unavailable;
    };
    await harness.start(answers, { reservations: { total: 12, perOrigin: 12 } });
    // Otherwise a turn of its own in the queue would be its advantage.
    harness.subscribe('before', { fleetId: 'else' });
    harness.publish(99, 'before');
    await clock.passUntil(() => harness.reserved === 0 && probed.has('before'), { stepMs: 50 });
    for (let n = 1; n <= 2; n++) harness.publish(n, 'held');
    await clock.passUntil(() => ofHeld.size === 2, { stepMs: 50 });
    for (let n = 1; n <= 20; n++) harness.subscribe(`dead-${String(n)}`, { fleetId: 'down' });
    for (let n = 1; n <= 20; n++) harness.publish(n + 2, `dead-${String(n)}`);
    for (let n = 23; n <= 25; n++) harness.publish(n, 'held');
    await until(() => harness.pending === 25);
    await passMs(17_000);
    expect([...ofHeld]).toEqual([
      ['event-1', 1],
      ['event-2', 1],
    ]);
    await passMs(6_000);
    await until(() => harness.pending === 21);
    isRepaired = true;
    const delivered = async (): Promise<string[]> =>
      (await harness.attempts())
        .filter(({ subscriptionId, outcome }) => subscriptionId === 'held' && outcome === 'delivered')
        .map(({ eventId }) => eventId);
    for (let passedMs = 0; passedMs < 10 * 60_000 && (await delivered()).length < 5; passedMs += 5_000)
      await passMs(5_000);
    await passMs(60_000, 5_000);
    expect(await delivered()).toEqual(['event-1', 'event-2', 'event-23', 'event-24', 'event-25']);
  });
});
