import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED, HEALTHY } from '@waypost/domain';
import { DeliveryMemory } from '../backlogs/delivery-memory.js';
import { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { aDelivery } from '../testing/sender-samples.js';
import { HeldBacklogs } from './held-backlogs.js';

const LIMIT_BYTES = 1_000_000;
const NOW = { epochMs: 0, monotonicMs: 0 };

/** A partition, and what is done with its backlogs, in order. */
function build() {
  const done: string[] = [];
  const paused = new Set<string>();
  const counts = { pending: 0, parked: 0 };
  const backlogs = new PartitionBacklogs({
    limits: { perSubscription: 100, slowAfterMs: Infinity },
    memory: new DeliveryMemory(LIMIT_BYTES, null),
    start: { offset: 0, foldFrom: 0 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => 500,
    monotonicMs: () => 0,
    isPaused: (id) => paused.has(id),
  });
  const does = (what: string) => (backlog: SubscriptionBacklog) => void done.push(`${what} ${backlog.subscriptionId}`);
  const held = new HeldBacklogs({
    backlogs,
    flow: {
      hold: does('hold'),
      release: does('release'),
      expire: does('expire'),
      withdraw: ({ offset }) => void done.push(`withdraw ${String(offset)}`),
    },
    states: { watch: does('state') },
    catchUp: { leaveOut: does('leave out'), kick: () => void done.push('catch up') },
    directory: { isPaused: (id) => paused.has(id) },
    metrics: {
      pendingChanged: (by) => void (counts.pending += by),
      parkedChanged: (by) => void (counts.parked += by),
    },
  });
  const admit = (backlog: SubscriptionBacklog, offset: number): void => {
    backlogs.admit({
      ...{ backlog, offset, appendedAt: 0, delivery: aDelivery(offset), due: NOW, begun: null },
      ...{ progress: DELIVERY_UNSTARTED, traceparent: null, tracestate: null, isHeld: true },
    });
    counts.pending += 1;
  };
  const change = (backlog: SubscriptionBacklog, isPaused: boolean): void => {
    if (isPaused) paused.add(backlog.subscriptionId);
    else paused.delete(backlog.subscriptionId);
    held.subscriptionChanged(backlog);
  };
  return { held, backlogs, counts, admit, change, news: () => done.splice(0) };
}

describe('a subscription that is paused and active again (R-16)', () => {
  it('is held and released, once each', () => {
    const { backlogs, change, news } = build();
    const backlog = backlogs.backlog('a');
    change(backlog, false);
    expect(news()).toEqual([]);
    for (let times = 0; times < 2; times += 1) change(backlog, true);
    expect(news()).toEqual(['state a', 'hold a']);
    for (let times = 0; times < 2; times += 1) change(backlog, false);
    expect(news()).toEqual(['state a', 'release a', 'catch up']);
  });

  it('stays held while it is suspended (R-29)', () => {
    const { backlogs, change, news } = build();
    const backlog = backlogs.backlog('a');
    backlog.health = { ...HEALTHY, failingSince: 1, suspendedAt: 2 };
    change(backlog, true);
    news();
    change(backlog, false);
    expect(news()).toEqual(['state a']);
  });
});

describe('the deliveries of a held subscription (R-26)', () => {
  it('are left to the log but for the first, which no pass over the log that is beyond them may miss', () => {
    const { held, backlogs, counts, admit, change, news } = build();
    const backlog = backlogs.backlog('a');
    for (const offset of [3, 5, 8]) admit(backlog, offset);
    change(backlog, true);
    news();
    held.unload();
    expect(news()).toEqual(['hold a', 'withdraw 5', 'withdraw 8', 'leave out a', 'state a']);
    expect([backlog.lowest(), backlog.parkedFrom, counts]).toEqual([3, 5, { pending: 1, parked: 1 }]);
    held.unload();
    expect(news()).toEqual([]);

    // As a probe that is held again finds it: it counts as parked only once.
    admit(backlog, 5);
    held.hold(backlog);
    held.unload();
    expect(counts).toEqual({ pending: 1, parked: 1 });
  });

  it('stay in memory until those in flight have ended, or if it is held no more by then', () => {
    const { held, backlogs, admit, change, news } = build();
    const [staying, released] = [backlogs.backlog('staying'), backlogs.backlog('released')];
    for (const backlog of [staying, released]) {
      for (const offset of [3, 5]) admit(backlog, offset);
      backlog.inFlight = 1;
      change(backlog, true);
    }
    news();
    held.unload();
    expect(news()).toEqual([]);
    change(released, false);
    for (const backlog of [staying, released]) backlog.inFlight = 0;
    news();
    held.unload();
    expect(news()).toEqual(['hold staying', 'withdraw 5', 'leave out staying', 'state staying']);
    expect(released.unfinished.size).toBe(2);
  });

  it('expire there, and those of no other subscription', () => {
    const { held, backlogs, change, news } = build();
    backlogs.backlog('other');
    change(backlogs.backlog('a'), true);
    news();
    held.expire();
    expect(news()).toEqual(['expire a']);
  });
});
