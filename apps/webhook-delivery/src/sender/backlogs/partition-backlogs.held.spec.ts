import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED, type DeliveryProgress } from '@waypost/domain';
import { aDelivery } from '../testing/sender-samples.js';
import { DeliveryMemory } from './delivery-memory.js';
import { PartitionBacklogs } from './partition-backlogs.js';
import type { PendingDelivery } from './subscription-backlog.js';

const LIMIT_BYTES = 1_000_000;
const NOW = { epochMs: 0, monotonicMs: 0 };
const BEGUN: DeliveryProgress = {
  ...{ type: 'pending', nextAttempt: 2, dueAt: 1_000, firstAttemptAt: 500 },
  ...{ unauthorizedBefore: false, probes: 0 },
};

/** A paused subscription whose deliveries are all of one size. */
function build() {
  const of = { attemptsEnd: 500 };
  const memory = new DeliveryMemory(LIMIT_BYTES, null);
  const backlogs = new PartitionBacklogs({
    limits: { perSubscription: 100, slowAfterMs: Infinity },
    memory,
    start: { offset: 10, foldFrom: 100 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => of.attemptsEnd,
    monotonicMs: () => 0,
    isPaused: () => true,
  });
  const backlog = backlogs.backlog('a');
  const admit = (offset: number, progress: DeliveryProgress = BEGUN, fleetId = 'fleet-1'): PendingDelivery => {
    const pending = {
      ...{ backlog, offset, appendedAt: 0, delivery: { ...aDelivery(1), fleetId }, due: NOW, begun: null },
      ...{ progress, traceparent: null, tracestate: null, isHeld: true },
    };
    backlogs.admit(pending);
    return pending;
  };
  return { of, memory, backlogs, backlog, admit };
}

describe('a held backlog (R-16, R-29)', () => {
  it('has room for a delivery only when the one in memory is expiring', () => {
    const { backlogs, backlog, admit } = build();
    expect([backlogs.hasRoom(backlog), backlogs.hasMuchRoom(backlog)]).toEqual([true, true]);
    admit(10);
    expect([backlogs.hasRoom(backlog), backlogs.hasMuchRoom(backlog)]).toEqual([false, false]);
    backlog.expiring = 1;
    expect([backlogs.hasRoom(backlog), backlogs.hasMuchRoom(backlog)]).toEqual([true, false]);
  });

  it('counts what it has only in the log for one fleet, whatever the fleet of a later delivery is (R-26)', () => {
    const { memory, backlogs, backlog, admit } = build();
    const free = memory.freeFor('fleet-1');
    const deliveries = [admit(10), admit(11), admit(12)];
    backlogs.withdrawAllButFirst(backlog);
    deliveries.push(admit(13, BEGUN, 'fleet-2'), admit(14, BEGUN, 'fleet-2'));
    backlogs.withdrawAllButFirst(backlog);
    for (const { offset } of deliveries) backlogs.readAgain(backlog, offset);
    for (const pending of deliveries) backlogs.finish(pending);
    expect([memory.freeFor('fleet-1'), memory.freeFor('fleet-2')]).toEqual([free, free]);
  });
});

describe('deliveries of a held backlog that retention deletes before they are read again (R-35)', () => {
  it('leave nothing of their progress behind, and the backlog is forgotten when the rest has ended', () => {
    const { memory, backlogs, backlog, admit } = build();
    const free = memory.freeFor('fleet-1');
    const [first] = [10, 11, 12, 13].map((offset) => admit(offset)) as [PendingDelivery];
    backlogs.withdrawAllButFirst(backlog);
    backlogs.park(backlog, 11);
    backlogs.deletedBefore(backlog, 13);
    expect([backlog.parkedFrom, [...backlog.withdrawn.keys()]]).toEqual([13, [13]]);
    backlogs.readAgain(backlog, 13);
    backlogs.caughtUp(backlog);
    backlogs.finish(first);
    expect([memory.freeFor('fleet-1'), backlogs.known('a')]).toEqual([free, undefined]);
  });
});

describe('from where on a successor folds the attempts of what a held backlog has only in the log (R-25)', () => {
  /** Holds three deliveries, the attempts of which begin at 500. */
  function buildHeld() {
    const built = build();
    const { backlogs, backlog, admit, of } = built;
    const [first] = [10, 11, 12].map((offset) => admit(offset)) as [PendingDelivery];
    backlogs.withdrawAllButFirst(backlog);
    of.attemptsEnd = 900;
    const readAgain = (offset: number): PendingDelivery => {
      backlogs.readAgain(backlog, offset);
      return admit(offset);
    };
    return { ...built, first, readAgain };
  }

  it('is where they began, also after a second hold, as long as one of the first has not been read again', () => {
    const { backlogs, backlog, admit, first, readAgain } = buildHeld();
    for (const pending of [first, readAgain(11)]) backlogs.finish(pending);
    admit(13);
    backlogs.withdrawAllButFirst(backlog);
    expect(backlog.withdrawnFoldFrom).toBe(500);
  });

  it('is where they began, also when nothing of it is in memory', () => {
    const { backlogs, backlog, first } = buildHeld();
    backlogs.park(backlog, 11);
    backlogs.finish(first);
    expect(backlogs.foldFromOfLowest(backlog)).toBe(500);
    [backlog.begunUpTo, backlog.begunFoldFrom] = [11, 300];
    expect(backlogs.foldFromOfLowest(backlog)).toBe(300);
    backlogs.park(backlog, 13);
    expect(backlogs.foldFromOfLowest(backlog)).toBe(900);
  });

  it('is later once all of the first hold have been read again, and are finished', () => {
    const { backlogs, backlog, admit, first, readAgain } = buildHeld();
    for (const pending of [first, readAgain(11), readAgain(12)]) backlogs.finish(pending);
    admit(13);
    backlogs.withdrawAllButFirst(backlog);
    expect(backlog.withdrawnFoldFrom).toBe(900);
  });
});

interface Known {
  readonly progress?: DeliveryProgress;
  readonly begunUpTo?: number;
  readonly finishedUpTo?: number;
}

describe('what a held backlog has only in the log (R-25)', () => {
  it('needs no state beyond the last delivery that was begun or is finished', () => {
    const { backlogs, backlog, admit } = build();
    admit(10, DELIVERY_UNSTARTED);
    for (const offset of [11, 12, 13, 14]) admit(offset, DELIVERY_UNSTARTED);
    backlogs.withdrawAllButFirst(backlog);
    expect([backlog.takenUpTo, backlog.withdrawn.size]).toEqual([10, 0]);
  });

  it('includes that a predecessor had finished the last one, which would be sent again otherwise', () => {
    const { backlogs, backlog, admit } = build();
    for (const offset of [10, 11]) admit(offset, DELIVERY_UNSTARTED);
    backlogs.skip(backlog, 12);
    backlogs.withdrawAllButFirst(backlog);
    expect([backlog.takenUpTo, [...backlog.withdrawn.keys()]]).toEqual([12, [11]]);
  });

  it.each([
    ['was begun', { progress: BEGUN }],
    ['was begun by a predecessor', { begunUpTo: 12 }],
    ['is finished', { finishedUpTo: 12 }],
  ])('has state up to a delivery that %s', (_, { progress = DELIVERY_UNSTARTED, begunUpTo, finishedUpTo }: Known) => {
    const { backlogs, backlog, admit } = build();
    for (const offset of [10, 11]) admit(offset, DELIVERY_UNSTARTED);
    admit(12, progress);
    admit(13, DELIVERY_UNSTARTED);
    if (begunUpTo !== undefined) backlog.begunUpTo = begunUpTo;
    if (finishedUpTo !== undefined) backlogs.over(backlog, finishedUpTo);
    backlogs.withdrawAllButFirst(backlog);
    expect([backlog.takenUpTo, [...backlog.withdrawn.keys()]]).toEqual([12, [11, 12]]);
  });
});
