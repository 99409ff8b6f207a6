import { describe, expect, it, jest } from '@jest/globals';
import { DELIVERY_UNSTARTED, type DeliveryProgress, HEALTHY } from '@waypost/domain';
import { StateRecords } from '../recovery/state-records.js';
import { SenderHarness } from '../testing/sender-harness.js';
import { aDelivery } from '../testing/sender-samples.js';
import { bytesOf, DeliveryMemory } from './delivery-memory.js';
import { type BegunDeliveries, PartitionBacklogs } from './partition-backlogs.js';
import type { PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

const DELIVERY_BYTES = bytesOf(aDelivery(10));
const TRIED: DeliveryProgress = {
  type: 'pending',
  nextAttempt: 2,
  probes: 0,
  dueAt: 0,
  firstAttemptAt: 0,
  unauthorizedBefore: false,
};
const NOTHING_BEGUN: BegunDeliveries = { upTo: -1, foldFrom: 0 };

function build({
  begun = NOTHING_BEGUN,
  limits = {},
  memory = new DeliveryMemory(Infinity, null),
  monotonicMs = (): number => 0,
} = {}) {
  let attemptsEnd = 500;
  const backlogs = new PartitionBacklogs({
    limits: { perSubscription: 3, slowAfterMs: Infinity, ...limits },
    memory,
    start: { offset: 10, foldFrom: 100 },
    begun,
    attemptsEnd: () => attemptsEnd,
    monotonicMs,
    isPaused: () => false,
  });
  const pendingOf = (backlog: SubscriptionBacklog, offset: number, fleetId = 'fleet-1'): PendingDelivery => ({
    ...{
      backlog,
      offset,
      appendedAt: 0,
      delivery: { ...aDelivery(offset), fleetId, body: aDelivery(10).body },
      progress: DELIVERY_UNSTARTED,
      due: { epochMs: 0, monotonicMs: 0 },
    },
    traceparent: null,
    tracestate: null,
    isHeld: false,
    begun: null,
  });
  /** What the partition's reader does with a delivery; undefined: it is left in the log. */
  const read = (subscriptionId: string, offset: number, fleetId?: string): PendingDelivery | undefined => {
    const backlog = backlogs.backlog(subscriptionId);
    const isTaken = backlogs.offer(backlog, offset);
    const pending = pendingOf(backlog, offset, fleetId);
    if (isTaken) backlogs.admit(pending);
    backlogs.position = offset + 1;
    return isTaken ? pending : undefined;
  };
  const taken = (subscriptionId: string, offset: number): PendingDelivery => {
    const pending = read(subscriptionId, offset);
    if (!pending) throw new Error('was left in the log');
    return pending;
  };
  const log = (attempts: number): void => {
    attemptsEnd += attempts;
  };
  return { backlogs, read, taken, log, pendingOf };
}

describe('the commit point of a partition (R-25)', () => {
  it('is the lowest unfinished delivery, and the attempts are folded from where they ended when it was taken in', () => {
    const { backlogs, taken, log } = build();
    const first = taken('a', 10);
    log(7);
    const second = taken('b', 11);
    log(5);
    expect(backlogs.commitPoint()).toEqual({ offset: 10, foldFrom: 500 });
    backlogs.finish(first);
    expect(backlogs.commitPoint()).toEqual({ offset: 11, foldFrom: 507 });
    backlogs.finish(second);
    expect(backlogs.commitPoint()).toEqual({ offset: 12, foldFrom: 512 });
  });

  it('does not pass a delivery because later ones are finished', () => {
    const { backlogs, taken } = build();
    taken('a', 10);
    backlogs.finish(taken('b', 11));
    expect(backlogs.commitPoint().offset).toBe(10);
  });

  it('keeps the fold offset of the predecessor until all that it had begun lies before it', () => {
    const { backlogs, taken } = build({ begun: { upTo: 12, foldFrom: 100 } });
    const unstarted = taken('a', 10);
    const begun = taken('b', 12);
    expect(backlogs.commitPoint()).toEqual({ offset: 10, foldFrom: 100 });
    backlogs.finish(unstarted);
    expect(backlogs.commitPoint()).toEqual({ offset: 12, foldFrom: 100 });
    const later = taken('c', 13);
    backlogs.finish(begun);
    expect(backlogs.commitPoint()).toEqual({ offset: 13, foldFrom: 500 });
    backlogs.finish(later);
  });
});

describe('a backlog that state records watch', () => {
  it('is not forgotten while they watch it, or the deliveries of its successor would be lost', async () => {
    const { codecs } = await SenderHarness.create();
    const { backlogs, taken } = build();
    const states = new StateRecords({ backlogs, codecs, partition: 0, nowMs: () => 1_000, monotonicMs: () => 1_000 });
    const failing = taken('a', 10);
    failing.backlog.health = { ...HEALTHY, failingSince: 900 };
    states.watch(failing.backlog);
    failing.backlog.health = HEALTHY;
    backlogs.finish(failing);
    const next = taken('a', 11);
    states.collect().written();
    expect(next.backlog).toBe(failing.backlog);
    expect(backlogs.commitPoint().offset).toBe(11);
    backlogs.finish(next);
    states.collect().written();
    expect(backlogs.known('a')).toBeUndefined();
  });
});

describe('state records', () => {
  it('look at a bounded number of backlogs per flush, those that changed first, and reach every backlog in the end', async () => {
    const { codecs } = await SenderHarness.create();
    const { backlogs } = build();
    let looks = 0;
    let passedMs = 100_000;
    const monotonicMs = (): number => {
      looks++;
      return passedMs;
    };
    const states = new StateRecords({ backlogs, codecs, partition: 0, nowMs: () => 0, monotonicMs });
    const failing = Array.from({ length: 25_000 }, (_, n) => backlogs.backlog(String(n)));
    for (const backlog of failing) {
      backlog.health = { ...HEALTHY, failingSince: 5_000 };
      backlog.failingSinceMs = passedMs;
      states.watch(backlog);
    }
    expect(states.collect().records).toEqual([]);

    looks = 0;
    const [first] = failing;
    if (first) {
      first.health = { ...HEALTHY, failingSince: passedMs, suspendedAt: passedMs };
      states.watch(first);
    }
    const changes = states.collect();
    expect(changes.records.map(({ key }) => key?.toString())).toEqual(['0']);
    changes.written();
    expect(looks).toBeLessThan(2_500);

    passedMs += 60_000;
    const found = new Set<string>();
    for (let flush = 0; flush < 50; flush++) {
      const { records, written } = states.collect();
      for (const { key } of records) found.add(key?.toString() ?? '');
      written();
    }
    expect(found.size).toBe(24_999);
  });
});

describe('state records of backlogs that have caught up', () => {
  it('look for the commit point once per flush, however many they attach: each time is a look at all backlogs (R-26)', async () => {
    const { codecs } = await SenderHarness.create();
    const { backlogs } = build();
    const states = new StateRecords({ backlogs, codecs, partition: 0, nowMs: () => 0, monotonicMs: () => 1_000 });
    const caughtUp = Array.from({ length: 400 }, (_, n) => backlogs.backlog(String(n)));
    for (const backlog of caughtUp) {
      backlog.placement = 'detached';
      states.watch(backlog);
    }
    const commitPoint = jest.spyOn(backlogs, 'commitPoint');
    states.collect().written();
    expect(new Set(caughtUp.map(({ placement }) => placement))).toEqual(new Set(['attached']));
    expect(commitPoint).toHaveBeenCalledTimes(1);
  });

  it('do not look for it while what they have caught up with is not past the last one', async () => {
    const { codecs } = await SenderHarness.create();
    const { backlogs, taken } = build();
    const states = new StateRecords({ backlogs, codecs, partition: 0, nowMs: () => 0, monotonicMs: () => 1_000 });
    const { backlog } = taken('a', 10);
    backlog.placement = 'detached';
    states.watch(backlog);
    taken('b', 11);
    expect(backlogs.commitPoint().offset).toBe(11);
    const commitPoint = jest.spyOn(backlogs, 'commitPoint');
    for (let flush = 0; flush < 3; flush++) states.collect().written();
    expect(commitPoint).not.toHaveBeenCalled();
  });
});

describe('a slow backlog (R-26)', () => {
  it('stays detached until its first delivery is a recent one, or it would be detached again and again', () => {
    let nowMs = 0;
    const { backlogs, taken } = build({ limits: { slowAfterMs: 1_000 }, monotonicMs: () => nowMs });
    taken('b', 10);
    const slow = taken('a', 11);
    const { backlog } = slow;
    backlog.placement = 'detached';
    nowMs = 999;
    expect(backlogs.isSlow(backlog)).toBe(false);
    nowMs = 1_000;
    taken('a', 12);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('detached');
    backlogs.finish(slow);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('attached');
  });
});

describe('a backlog at its bound (R-26)', () => {
  it('leaves deliveries beyond the bound in the log, and all later ones, even if there is room again', () => {
    const { backlogs, read, taken } = build();
    const first = taken('a', 10);
    for (const offset of [11, 12]) taken('a', offset);
    expect(read('a', 13)).toBeUndefined();
    backlogs.finish(first);
    expect(read('a', 14)).toBeUndefined();
    expect(backlogs.backlog('a').parkedFrom).toBe(13);
  });

  it.each([
    ['partition', (bytes: number) => new DeliveryMemory(bytes, null)],
    ['process', (bytes: number) => new DeliveryMemory(Infinity, new DeliveryMemory(bytes, null))],
  ])('takes its share of the memory of the %s, and gives it back', (_, memoryOf) => {
    const memory = memoryOf(10 * DELIVERY_BYTES);
    const { backlogs, read, taken } = build({ memory });
    const [first] = [taken('a', 10), taken('a', 11)];
    expect(read('a', 12)).toBeUndefined();
    expect(memory.freeFor('fleet-1')).toBe(2 * DELIVERY_BYTES);
    backlogs.finish(first);
    backlogs.finish(first);
    expect(memory.freeFor('fleet-1')).toBe(3.5 * DELIVERY_BYTES);
    for (const offset of [13, 14]) taken('b', offset);
    backlogs.withdrawAllButFirst(backlogs.backlog('b'));
    // Nothing is kept of the other one, which has had no attempt.
    expect(memory.freeFor('fleet-1')).toBe(2 * DELIVERY_BYTES);
    backlogs.close();
    expect(memory.freeFor('fleet-1')).toBe(5 * DELIVERY_BYTES);
  });

  it('folds the attempts of what it reads again from where they began, not from where it reads it (R-25)', () => {
    const { backlogs, taken, log, pendingOf } = build();
    const first = taken('a', 10);
    const others = [taken('a', 11), taken('a', 12)];
    const { backlog } = first;
    log(7); // attempts of all three among them
    for (const pending of others) pending.progress = TRIED;
    backlogs.withdrawAllButFirst(backlog);
    backlogs.park(backlog, 11);
    backlogs.finish(first);
    backlogs.admit(pendingOf(backlog, 12));
    backlogs.caughtUp(backlog);
    expect(backlogs.commitPoint()).toEqual({ offset: 12, foldFrom: 500 });
  });

  it('folds the attempts of a second hold from its own beginning, once all that the first one left has been read (R-26)', () => {
    const { backlogs, taken, log, pendingOf } = build({ limits: { perSubscription: 4 } });
    const held = [taken('a', 10), taken('a', 11)];
    const backlog = backlogs.backlog('a');
    for (const pending of held) pending.progress = TRIED;
    backlogs.withdrawAllButFirst(backlog);
    expect(backlogs.readAgain(backlog, 11)?.progress).toBe(TRIED);
    backlogs.admit(pendingOf(backlog, 11));
    log(1_000); // days
    const [first] = [taken('a', 12), taken('a', 13)];
    for (const pending of held) backlogs.finish(pending);
    backlogs.withdrawAllButFirst(backlog);
    backlogs.park(backlog, 13);
    backlogs.finish(first);
    backlogs.admit(pendingOf(backlog, 13));
    expect(backlogs.foldFromOfLowest(backlog)).toBe(1_500);
  });

  it('keeps of what goes back to the log only what has been tried or lies before that: the rest is as new (R-25)', () => {
    const { backlogs, taken } = build({ limits: { perSubscription: 9 } });
    const backlog = backlogs.backlog('a');
    const of = new Map([10, 11, 12, 13, 14, 15].map((offset) => [offset, taken('a', offset)]));
    const tried = of.get(12);
    if (tried) tried.progress = TRIED;
    const withdrawn = backlogs.withdrawAllButFirst(backlog);
    expect(withdrawn.map(({ offset }) => offset)).toEqual([11, 12, 13, 14, 15]);
    expect([[...backlog.withdrawn.keys()], backlog.takenUpTo]).toEqual([[11, 12], 12]);
  });

  it('keeps it also up to what is finished, which would be sent again otherwise (R-25)', () => {
    const { backlogs, taken } = build({ limits: { perSubscription: 9 } });
    const backlog = backlogs.backlog('a');
    const finished = [10, 11, 12, 13, 14].map((offset) => taken('a', offset))[3];
    if (finished) backlogs.finish(finished);
    backlogs.withdrawAllButFirst(backlog);
    expect([[...backlog.withdrawn.keys()], backlog.takenUpTo]).toEqual([[11, 12], 13]);
  });

  it('holds the commit point back until its own record accounts for it', () => {
    const { backlogs, read, taken } = build();
    for (const offset of [10, 11, 12, 13]) read('a', offset);
    backlogs.finish(taken('b', 14));
    expect(backlogs.commitPoint().offset).toBe(10);
    backlogs.backlog('a').placement = 'detached';
    expect(backlogs.commitPoint().offset).toBe(15);
  });

  it('is attached again when it has caught up and the commit point need not go back for it', () => {
    const { backlogs, read, taken } = build();
    const own = [10, 11, 12].map((offset) => taken('a', offset));
    read('a', 13);
    const backlog = backlogs.backlog('a');
    backlog.placement = 'detached';
    const other = taken('b', 14);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('detached'); // behind
    backlogs.caughtUp(backlog);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('detached'); // below the commit point
    for (const pending of own) backlogs.finish(pending);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('attached');
    expect(backlogs.commitPoint().offset).toBe(14);
    backlogs.finish(other);
  });

  it('takes over the fold offset of the others when it is attached: what they finished must not be forgotten', () => {
    const { backlogs, read, taken, log, pendingOf } = build();
    const own = [10, 11, 12].map((offset) => taken('a', offset));
    read('a', 13);
    const backlog = backlogs.backlog('a');
    backlog.placement = 'detached';
    const other = taken('b', 14);
    read('a', 15);
    const otherLater = taken('b', 16);
    log(9);
    for (const pending of own) backlogs.finish(pending);
    backlogs.finish(otherLater); // its attempts lie before 509
    // Read in again late: its own attempts lie past 509.
    backlogs.admit(pendingOf(backlog, 15));
    backlogs.caughtUp(backlog);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('attached');
    backlogs.finish(other);
    expect(backlogs.commitPoint()).toEqual({ offset: 15, foldFrom: 500 });
  });
});

describe('a fleet with many subscriptions whose deliveries do not finish (R-26)', () => {
  const PER_SUBSCRIPTION = 500;

  /** Each subscription in turn, until all are parked. */
  function fill(read: ReturnType<typeof build>['read'], subscriptions: number, each: number): number {
    let offset = 10;
    for (let n = 0; n < each; n++)
      for (let i = 0; i < subscriptions; i++) read(`dead ${String(i)}`, offset++, 'dead fleet');
    return offset;
  }

  it('leaves a subscription of another fleet all that it may have in memory', () => {
    const memory = new DeliveryMemory(20_000 * DELIVERY_BYTES, null);
    const { backlogs, read } = build({ memory, limits: { perSubscription: PER_SUBSCRIPTION } });
    let offset = fill(read, 160, PER_SUBSCRIPTION);
    expect(backlogs.pending).toBeLessThanOrEqual(20_000 / 3);
    for (let n = 0; n < PER_SUBSCRIPTION; n++) expect(read('healthy', offset++, 'healthy fleet')).toBeDefined();
    expect(backlogs.pending).toBeGreaterThan(6_000 + PER_SUBSCRIPTION);
  });

  it('leaves room for more than one delivery of another subscription of its own', () => {
    const memory = new DeliveryMemory(20_000 * DELIVERY_BYTES, null);
    const { backlogs, read } = build({ memory, limits: { perSubscription: PER_SUBSCRIPTION } });
    let offset = fill(read, 160, PER_SUBSCRIPTION);
    while (read('healthy', offset, 'dead fleet')) offset++;
    expect(backlogs.backlog('healthy').unfinished.size).toBeGreaterThan(10);
    expect(backlogs.backlog('dead 0').unfinished.size).toBeLessThan(50);
  });

  it('has one delivery of each in memory beyond its share', () => {
    const memory = new DeliveryMemory(600 * DELIVERY_BYTES, null);
    const { backlogs, read } = build({ memory, limits: { perSubscription: PER_SUBSCRIPTION } });
    const offset = fill(read, 10_000, 20);
    expect(backlogs.pending).toBe(10_000);
    expect(read('healthy', offset, 'healthy fleet')).toBeDefined();
  });
});
