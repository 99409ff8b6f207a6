import { describe, expect, it } from '@jest/globals';
import { HEALTHY, type OperationalEvent } from '@waypost/domain';
import type { DirectorySubscription } from '../../subscriptions/subscription-directory.js';
import type { AttemptOutcome } from '../attempts/attempt-record.js';
import { type PendingDelivery, SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { ManualClock } from '../testing/manual-clock.js';
import { aDelivery, anAttempt, aSubscription } from '../testing/sender-samples.js';
import { Outage } from './outage.js';

const EPOCH = Date.UTC(2026, 2, 20, 12);
const MINUTE_MS = 60_000;

/** The outage of one subscription, and what it does, in order. */
function build() {
  const clock = new ManualClock(1_000);
  const nowMs = () => EPOCH + clock.atMs;
  const done: string[] = [];
  const published: OperationalEvent[] = [];
  const backlog = new SubscriptionBacklog('subscription-1');
  const of: { subscription: DirectorySubscription | undefined; isPaused: boolean; canProbe: boolean } = {
    subscription: { ...aSubscription('subscription-1'), onOutage: 'hold' },
    isPaused: false,
    canProbe: true,
  };
  let suspended = 0;
  const outage = new Outage({
    nowMs,
    monotonicMs: clock.monotonicMs,
    timers: clock,
    random: () => 0.4,
    directory: { get: () => of.subscription, isPaused: () => of.isPaused },
    log: {
      publish: (event) => {
        published.push(event);
        done.push(event.type);
      },
    },
    states: { watch: () => void done.push('state') },
    metrics: { suspendedChanged: (by) => (suspended += by) },
    hold: () => void done.push('hold'),
    release: () => void done.push('release'),
    probe: () => {
      done.push('probe');
      return of.canProbe;
    },
  });
  const ended = (fields: Partial<AttemptOutcome> = {}): void => {
    const about = { eventId: 'event-1', fleetId: 'fleet-1', deliveryOffset: 3, statusCode: 503, errorCode: null };
    const result = { retryAfterMs: null, isAccepted: false, isFailure: false };
    outage.ended(backlog, { ...about, ...result, ended: { epochMs: nowMs(), monotonicMs: clock.atMs }, ...fields });
  };
  const suspend = (): void => {
    ended();
    clock.passMs(5 * MINUTE_MS);
    ended();
    done.length = 0;
  };
  /** Since the last call. */
  const news = (): string[] => done.splice(0);
  return { outage, backlog, clock, nowMs, of, published, ended, suspend, news, suspended: () => suspended };
}

describe('the probes of a suspended subscription (R-29)', () => {
  it('are sent every 15 s from the suspension on, or from when the last one started', () => {
    const { outage, backlog, clock, suspend, news } = build();
    suspend();
    clock.passMs(14_999);
    expect(news()).toEqual([]);
    clock.passMs(1);
    expect(news()).toEqual(['probe']);
    clock.passMs(10_000);
    outage.probing(backlog);
    clock.passMs(14_999);
    expect(news()).toEqual([]);
    clock.passMs(1);
    expect(news()).toEqual(['probe']);
  });

  it('are not sent while its owner pauses it, and go on afterwards', () => {
    const { clock, of, suspend, news } = build();
    suspend();
    of.isPaused = true;
    clock.passMs(40_000);
    expect(news()).toEqual([]);
    of.isPaused = false;
    clock.passMs(5_000);
    expect(news()).toEqual(['probe']);
  });

  it('are sent at once with the first delivery after one for which there was none, and otherwise in time', () => {
    const { outage, backlog, clock, of, suspend, news } = build();
    suspend();
    outage.held(backlog);
    clock.passMs(0);
    expect(news()).toEqual([]);
    of.canProbe = false;
    clock.passMs(15_000);
    expect(news()).toEqual(['probe']);
    of.canProbe = true;
    outage.held(backlog);
    clock.passMs(0);
    expect(news()).toEqual(['probe']);
    outage.held(backlog);
    clock.passMs(14_999);
    expect(news()).toEqual([]);
  });

  it.each([
    ['what is left of the 15 s', 4_000, null, 11_000],
    ['what is left of the 15 s since the suspension, without a probe', null, null, 9_000],
    ['a random part of the 15 s when it is overdue', 40_000, null, 6_000],
    ['the end of its Retry-After (R-22)', 4_000, 13_000, 13_000],
  ])('of a predecessor go on after %s', (_, agoMs, retryAfterMs, waitMs) => {
    const { outage, backlog, clock, nowMs, news } = build();
    backlog.health = { ...HEALTHY, failingSince: nowMs() - 10 * MINUTE_MS, suspendedAt: nowMs() - 6_000 };
    const notBefore = retryAfterMs === null ? 0 : nowMs() + retryAfterMs;
    outage.recovered(backlog, { probedAt: agoMs === null ? null : nowMs() - agoMs, notBefore });
    clock.passMs(waitMs - 1);
    expect(news()).toEqual([]);
    clock.passMs(1);
    expect(news()).toEqual(['probe']);
  });
});

describe('the end of a suspension (R-29)', () => {
  it('is in the log before the deliveries that follow, and ends the probes', () => {
    const { clock, ended, suspend, news, suspended } = build();
    suspend();
    expect(suspended()).toBe(1);
    ended({ isAccepted: true, statusCode: 200 });
    expect(news()).toEqual(['state', 'resumed', 'release']);
    clock.passMs(MINUTE_MS);
    expect([news(), suspended()]).toEqual([[], 0]);
  });

  it.each<[string, Partial<DirectorySubscription> | null, string]>([
    ['lets deliveries fail by now', { onOutage: 'fail', fleetId: 'fleet-of-directory' }, 'fleet-of-directory'],
    ['was disabled', { status: 'disabled', fleetId: 'fleet-of-directory' }, 'fleet-of-directory'],
    ['was deleted', null, 'fleet-1'],
  ])('comes with the next probe when it %s, and is reported with the first delivery', (_, change, fleetId) => {
    const { backlog, clock, of, published, suspend, news, suspended } = build();
    suspend();
    const pending = { offset: 7, delivery: aDelivery(2) } as PendingDelivery;
    backlog.unfinished.set(7, { pending, foldFrom: 0, sinceMs: 0 });
    of.subscription = change === null ? undefined : { ...aSubscription('subscription-1'), onOutage: 'hold', ...change };
    clock.passMs(15_000);
    expect(news()).toEqual(['state', 'resumed', 'release']);
    const about = { fleetId, eventId: 'event-2', deliveryOffset: 7 };
    expect(published.at(-1)).toMatchObject({ ...about, reason: 'deliveries are no longer held' });
    expect([backlog.isSuspended, suspended()]).toEqual([false, 0]);
  });

  it('is reported without a delivery when there is none', () => {
    const { clock, of, published, suspend } = build();
    suspend();
    of.subscription = undefined;
    clock.passMs(15_000);
    expect(published.at(-1)).toMatchObject({ type: 'resumed', eventId: null, deliveryOffset: null, fleetId: '' });
  });

  it('follows from an attempt of a predecessor that was accepted', () => {
    const { outage, backlog, nowMs, news, suspended } = build();
    backlog.health = { ...HEALTHY, failingSince: nowMs() - MINUTE_MS, suspendedAt: nowMs() - MINUTE_MS };
    outage.recovered(backlog, null);
    expect(suspended()).toBe(1);
    outage.endedBefore(backlog, anAttempt(1, { outcome: 'delivered', startedAt: nowMs(), statusCode: 200 }));
    expect([news(), suspended()]).toEqual([['state', 'resumed', 'release'], 0]);
  });
});

describe('the health of an endpoint (R-29)', () => {
  it('no longer changes after the close, which ends the probes', () => {
    const { outage, backlog, clock, ended, suspend, news, suspended } = build();
    suspend();
    outage.close();
    const { health } = backlog;
    ended({ isAccepted: true });
    clock.passMs(MINUTE_MS);
    expect([news(), suspended(), backlog.health]).toEqual([[], 0, health]);
  });

  it('is forgotten with its subscription, but not that it is suspended until an attempt is accepted', () => {
    const { outage, backlog, of, ended, suspend, news } = build();
    outage.deleted(backlog);
    expect(news()).toEqual([]);
    suspend();
    const { suspendedAt } = backlog.health;
    outage.deleted(backlog);
    of.subscription = undefined;
    ended();
    expect([news(), backlog.health]).toEqual([['state'], { ...HEALTHY, suspendedAt }]);
    ended({ isAccepted: true });
    expect([news(), backlog.health]).toEqual([['state', 'resumed', 'release'], HEALTHY]);
  });

  it('counts failures from the last change of the subscription on, but stays suspended', () => {
    const { backlog, clock, nowMs, of, ended, suspend, news } = build();
    suspend();
    const { suspendedAt } = backlog.health;
    if (of.subscription) of.subscription = { ...of.subscription, updatedAt: nowMs() };
    clock.passMs(1_000);
    news();
    ended();
    expect(backlog.health).toEqual({ ...HEALTHY, failingSince: nowMs(), suspendedAt });
  });

  it('leads to a suspension after five minutes of failures since the last change', () => {
    const { clock, nowMs, of, ended, news } = build();
    ended();
    clock.passMs(5 * MINUTE_MS - 1);
    if (of.subscription) of.subscription = { ...of.subscription, updatedAt: nowMs() };
    ended();
    clock.passMs(5 * MINUTE_MS - 1);
    news();
    ended();
    expect(news()).toEqual([]);
    clock.passMs(1);
    ended();
    expect(news()).toEqual(['state', 'hold', 'suspended']);
  });

  it.each(['secret_unreadable', 'subscription_disabled'])(
    'stays as it is when deliveries get no request for as long as five minutes: %s',
    (errorCode) => {
      const { backlog, clock, ended, news } = build();
      ended({ statusCode: null, errorCode });
      clock.passMs(5 * MINUTE_MS);
      ended({ statusCode: null, errorCode });
      expect([news(), backlog.health]).toEqual([[], HEALTHY]);
    },
  );

  it.each([
    ['from before its last change count no more', 1, 0],
    ['since its last change count', -1, 10 * MINUTE_MS],
  ])('failures of a predecessor %s', (_, changedAfterMs, failingForMs) => {
    const { backlog, nowMs, of, ended } = build();
    const failingSince = nowMs() - 10 * MINUTE_MS;
    backlog.health = { ...HEALTHY, failingSince };
    backlog.failingSinceMs = -10 * MINUTE_MS;
    if (of.subscription)
      of.subscription = { ...of.subscription, onOutage: 'fail', updatedAt: failingSince + changedAfterMs };
    ended();
    expect(nowMs() - (backlog.health.failingSince ?? NaN)).toBe(failingForMs);
  });
});
