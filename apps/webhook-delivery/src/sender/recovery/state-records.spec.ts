import { beforeEach, describe, expect, it } from '@jest/globals';
import { resolveBatch } from '@waypost/contracts';
import { DELIVERY_UNSTARTED, type DeliveryProgress, HEALTHY, type SubscriptionState } from '@waypost/domain';
import type { StateChanges } from '../attempts/attempt-log.js';
import { DeliveryMemory } from '../backlogs/delivery-memory.js';
import { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { SenderHarness } from '../testing/sender-harness.js';
import { aDelivery } from '../testing/sender-samples.js';
import { StateRecords } from './state-records.js';

const NOW = { epochMs: 0, monotonicMs: 0 };
const ATTEMPTED = { nextAttempt: 3, probes: 1, dueAt: 5_000, firstAttemptAt: 1_000, unauthorizedBefore: true };
const TRIED: DeliveryProgress = { type: 'pending', ...ATTEMPTED };
const NOTHING: SubscriptionState = {
  ...{ subscriptionId: 'a', parkedFrom: null, foldFrom: null, known: null, updatedAt: 7 },
  ...HEALTHY,
};
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** A partition whose position is 10, with room for three deliveries of a subscription. */
async function build() {
  const { codecs } = await SenderHarness.create();
  // Looks its schema up, so that what is written can be read at once.
  await resolveBatch(codecs.subscriptionState, [{ value: codecs.subscriptionState.encode(NOTHING) }]);
  const of = { attemptsEnd: 500, atMs: 100 * MINUTE_MS };
  const monotonicMs = (): number => of.atMs;
  const backlogs = new PartitionBacklogs({
    limits: { perSubscription: 3, slowAfterMs: 2 * MINUTE_MS },
    memory: new DeliveryMemory(Infinity, null),
    start: { offset: 10, foldFrom: 100 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => of.attemptsEnd,
    monotonicMs,
    isPaused: () => false,
  });
  const states = new StateRecords({ backlogs, codecs, partition: 0, nowMs: () => 7, monotonicMs });

  /** What the reader of the partition does with a delivery. */
  const read = (id: string, offset: number, progress = DELIVERY_UNSTARTED): SubscriptionBacklog => {
    const backlog = backlogs.backlog(id);
    if (backlogs.offer(backlog, offset))
      backlogs.admit({
        ...{ backlog, offset, appendedAt: 0, delivery: aDelivery(offset), due: NOW, begun: null },
        ...{ progress, traceparent: null, tracestate: null, isHeld: backlog.isHeld },
      });
    backlogs.position = offset + 1;
    return backlog;
  };
  const finishFirst = (backlog: SubscriptionBacklog): void => {
    const first = backlog.first();
    if (first) backlogs.finish(first);
  };
  const decoded = ({ records }: StateChanges): (SubscriptionState | null)[] =>
    records.map(({ value }) => {
      const read = value && codecs.subscriptionState.decode(value);
      if (read !== null && read.type !== 'decoded') throw new Error(`not readable: ${read.type}`);
      return read && read.value;
    });
  /** A flush, after that time. @returns the states written, null: a tombstone */
  const flush = (afterMs = 0): (SubscriptionState | null)[] => {
    of.atMs += afterMs;
    const changes = states.collect();
    changes.written();
    return decoded(changes);
  };
  const pause = (backlog: SubscriptionBacklog): void => {
    backlog.isPaused = true;
    states.watch(backlog);
  };
  return { of, backlogs, states, read, finishFirst, decoded, flush, pause };
}

let built: Awaited<ReturnType<typeof build>>;

beforeEach(async () => {
  built = await build();
});

describe('the record of a backlog that is parked (R-25, R-26)', () => {
  it('lets the position of the partition pass it only once it is written: a kill in between must lose nothing', () => {
    const { backlogs, states, read, decoded } = built;
    for (const offset of [10, 11, 12, 13]) states.watch(read('a', offset));
    read('b', 14);
    const changes = states.collect();
    expect(decoded(changes)).toMatchObject([{ subscriptionId: 'a', parkedFrom: 10, foldFrom: 500, known: null }]);
    expect(backlogs.commitPoint().offset).toBe(10);
    changes.written();
    expect(backlogs.commitPoint().offset).toBe(14);
  });

  it('is written again when the write fails', () => {
    const { states, read, decoded } = built;
    for (const offset of [10, 11, 12, 13]) states.watch(read('a', offset));
    states.collect();
    expect(decoded(states.collect())).toMatchObject([{ parkedFrom: 10 }]);
  });

  it('says where it has got to at most once a second', () => {
    const { read, states, finishFirst, flush } = built;
    const [backlog] = [10, 11, 12, 13].map((offset) => read('a', offset)) as [SubscriptionBacklog];
    states.watch(backlog);
    flush();
    finishFirst(backlog);
    expect([flush(SECOND_MS - 1), flush(1)]).toMatchObject([[], [{ parkedFrom: 11 }]]);
    expect(flush(SECOND_MS)).toEqual([]);
  });

  it('is deleted once the backlog has caught up, and counts for the position of the partition again', () => {
    const { backlogs, read, states, finishFirst, flush } = built;
    const [backlog] = [10, 11, 12, 13].map((offset) => read('a', offset)) as [SubscriptionBacklog];
    states.watch(backlog);
    flush();
    for (let n = 0; n < 3; n++) finishFirst(backlog);
    backlogs.caughtUp(backlog);
    const other = read('b', 14);
    read('a', 15);
    expect(flush()).toEqual([null]);
    finishFirst(other);
    expect(backlogs.commitPoint().offset).toBe(15);
    finishFirst(backlog);
    flush();
    expect(backlogs.known('a')).toBeUndefined();
  });
});

describe('the progress in the record of a backlog that waits for long (R-25, R-26)', () => {
  it('is that of everything taken in, up to the end of the attempts at the time', () => {
    const { of, read, pause, flush } = built;
    const backlog = read('a', 10, TRIED);
    read('a', 11);
    of.attemptsEnd = 900;
    pause(backlog);
    const unfinished = [
      { offset: 10, attempted: ATTEMPTED },
      { offset: 11, attempted: null },
    ];
    expect(flush()).toEqual([
      { ...NOTHING, parkedFrom: 10, foldFrom: 500, known: { foldFrom: 900, upTo: 11, unfinished } },
    ]);
  });

  it('is left out until all that a predecessor had begun has been read: the rest would count as finished', () => {
    const { of, backlogs, read, pause, flush } = built;
    const backlog = backlogs.backlog('a');
    [backlog.begunUpTo, backlog.begunFoldFrom] = [12, 50];
    read('a', 10, TRIED);
    pause(backlog);
    expect(flush()).toMatchObject([{ parkedFrom: 10, foldFrom: 50, known: null }]);
    backlog.isPaused = false;
    read('a', 11, TRIED);
    read('a', 12, TRIED);
    of.attemptsEnd = 900;
    pause(backlog);
    expect(flush(MINUTE_MS)).toMatchObject([{ known: { foldFrom: 900, upTo: 12, unfinished: [{}, {}, {}] } }]);
  });

  it('stays as a predecessor wrote it until then, however far its deliveries have got', () => {
    const { backlogs, states, read, finishFirst, pause, flush } = built;
    const unfinished = [10, 11, 12].map((offset) => ({ offset, attempted: ATTEMPTED }));
    const state = { ...NOTHING, parkedFrom: 10, foldFrom: 50, known: { foldFrom: 400, upTo: 12, unfinished } };
    const backlog = backlogs.backlog('a');
    [backlog.placement, backlog.begunUpTo, backlog.begunFoldFrom] = ['detached', 14, 50];
    states.recovered(backlog, state);
    for (const offset of [10, 11, 12]) read('a', offset, TRIED);
    finishFirst(backlog);
    pause(backlog);
    expect(flush(MINUTE_MS)).toEqual([{ ...state, parkedFrom: 11 }]);
  });

  it('is written every 30 s at most, since it may be long, also when nothing of the subscription changes', () => {
    const { of, read, pause, finishFirst, flush } = built;
    const backlog = read('a', 10, TRIED);
    read('a', 11, TRIED);
    pause(backlog);
    flush();
    of.attemptsEnd = 900;
    expect([flush(29 * SECOND_MS), flush(SECOND_MS)]).toMatchObject([[], [{ known: { foldFrom: 900 } }]]);
    finishFirst(backlog);
    expect([flush(29 * SECOND_MS), flush(SECOND_MS)]).toMatchObject([[], [{ parkedFrom: 11 }]]);
  });

  it('is not needed of a paused subscription with nothing that waits, which moves along every 30 s', () => {
    const { backlogs, read, pause, flush } = built;
    pause(backlogs.backlog('a'));
    expect(flush()).toMatchObject([{ parkedFrom: 10, known: { unfinished: [] } }]);
    read('b', 10);
    expect([flush(29 * SECOND_MS), flush(SECOND_MS)]).toMatchObject([[], [{ parkedFrom: 11 }]]);
  });
});

describe('the record of an endpoint that fails (R-29)', () => {
  const failedDays = [{ day: 1, failed: 2 }];

  /** A subscription that has only failed since 12 s on the epoch clock. */
  function failing(forMs: number): SubscriptionBacklog {
    const { of, backlogs, states } = built;
    const backlog = backlogs.backlog('a');
    backlog.health = { ...HEALTHY, failingSince: 12_000, failedDays };
    backlog.failingSinceMs = of.atMs - forMs;
    states.watch(backlog);
    return backlog;
  }

  it('begins after a minute of failures, and goes with the first acceptance', () => {
    const { states, flush } = built;
    const backlog = failing(MINUTE_MS - 1);
    expect([flush(), flush(1)]).toEqual([[], [{ ...NOTHING, failingSince: 12_000, failedDays }]]);
    backlog.health = HEALTHY;
    states.watch(backlog);
    expect([flush(), backlog.isRemembered]).toEqual([[null], true]);
    expect([flush(), backlog.isRemembered]).toEqual([[], false]);
  });

  it('has further failed days within 30 s, or a restart would put off the disabling', () => {
    const { flush } = built;
    const backlog = failing(MINUTE_MS);
    flush();
    const more = [...failedDays, { day: 2, failed: 1 }];
    backlog.health = { ...backlog.health, failedDays: more };
    expect([flush(29 * SECOND_MS), flush(SECOND_MS)]).toMatchObject([[], [{ failedDays: more }]]);
  });

  it('has a suspension at once, also one whose failures were forgotten', () => {
    const { states, flush } = built;
    const backlog = failing(0);
    backlog.health = { ...backlog.health, suspendedAt: 13_000 };
    expect(flush()).toMatchObject([{ failingSince: 12_000, failedDays, suspendedAt: 13_000 }]);
    backlog.health = { ...HEALTHY, suspendedAt: 13_000 };
    states.watch(backlog);
    expect(flush()).toMatchObject([{ failingSince: null, failedDays: [], suspendedAt: 13_000 }]);
  });
});
