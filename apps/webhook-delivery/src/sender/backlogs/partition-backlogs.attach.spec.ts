import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED } from '@waypost/domain';
import { aDelivery } from '../testing/sender-samples.js';
import { DeliveryMemory } from './delivery-memory.js';
import { PartitionBacklogs } from './partition-backlogs.js';
import type { PendingDelivery, SubscriptionBacklog } from './subscription-backlog.js';

const SLOW_AFTER_MS = 100;

function build() {
  const of = { attemptsEnd: 0, atMs: 0 };
  const backlogs = new PartitionBacklogs({
    limits: { perSubscription: 10, slowAfterMs: SLOW_AFTER_MS },
    memory: new DeliveryMemory(Infinity, null),
    start: { offset: 10, foldFrom: 0 },
    begun: { upTo: -1, foldFrom: 0 },
    attemptsEnd: () => of.attemptsEnd,
    monotonicMs: () => of.atMs,
    isPaused: () => false,
  });
  const admit = (backlog: SubscriptionBacklog, offset: number): PendingDelivery => {
    const pending: PendingDelivery = {
      ...{
        backlog,
        offset,
        appendedAt: 0,
        delivery: aDelivery(offset),
        due: { epochMs: 0, monotonicMs: 0 },
        begun: null,
      },
      ...{ progress: DELIVERY_UNSTARTED, traceparent: null, tracestate: null, isHeld: false },
    };
    backlogs.admit(pending);
    return pending;
  };
  /** One with a state record of its own, and a delivery whose attempts begin there. */
  const detached = (id: string, offset: number, attemptsFrom: number) => {
    const backlog = backlogs.backlog(id);
    backlog.placement = 'detached';
    of.attemptsEnd = attemptsFrom;
    return { backlog, pending: admit(backlog, offset) };
  };
  return { of, backlogs, admit, detached };
}

describe('a backlog with a state record of its own (R-26)', () => {
  it.each<[string, (backlog: SubscriptionBacklog) => unknown]>([
    ['is held', (backlog) => (backlog.isPaused = true)],
    ['has deliveries that are only in the log', (backlog) => (backlog.parkedFrom = 30)],
  ])('goes by the position of the partition again, but not while it %s', (_, change) => {
    const { backlogs, detached } = build();
    const [{ backlog: usual }, { backlog }] = [detached('usual', 20, 300), detached('other', 20, 300)];
    change(backlog);
    backlogs.attach([usual, backlog]);
    expect([usual.placement, backlog.placement]).toEqual(['attached', 'detached']);
  });

  it('does not while it is slow: it would hold the position back', () => {
    const { of, backlogs, detached } = build();
    const { backlog } = detached('a', 20, 300);
    of.atMs = SLOW_AFTER_MS;
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('detached');
  });

  it('does not while it has a delivery before that position, which never goes back', () => {
    const { backlogs, admit, detached } = build();
    const { backlog } = detached('a', 20, 300);
    const ahead = backlogs.backlog('ahead');
    const pending = admit(ahead, 25);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('detached');
    backlogs.finish(pending);
    expect(backlogs.commitPoint().offset).toBe(10);
    backlogs.attach([backlog]);
    expect(backlog.placement).toBe('attached');
  });

  it('leaves a fold that has the attempts of what the others have finished beyond their position (R-25)', () => {
    const { of, backlogs, detached } = build();
    const [one, other] = [detached('one', 20, 300), detached('other', 30, 400)];
    of.attemptsEnd = 900;
    backlogs.attach([one.backlog, other.backlog]);
    expect(backlogs.commitPoint()).toEqual({ offset: 20, foldFrom: 300 });
    backlogs.finish(one.pending);
    expect(backlogs.commitPoint()).toEqual({ offset: 30, foldFrom: 300 });
  });
});

describe('a backlog with deliveries that are only in the log (R-26)', () => {
  it('is worth another pass over the log when it is half empty', () => {
    const { backlogs, admit } = build();
    const backlog = backlogs.backlog('a');
    for (let offset = 10; offset < 15; offset += 1) admit(backlog, offset);
    expect([backlogs.hasMuchRoom(backlog), backlogs.hasRoom(backlog)]).toEqual([true, true]);
    admit(backlog, 15);
    expect([backlogs.hasMuchRoom(backlog), backlogs.hasRoom(backlog)]).toEqual([false, true]);
  });
});
