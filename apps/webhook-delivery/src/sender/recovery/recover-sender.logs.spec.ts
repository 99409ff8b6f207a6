import { describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import { DELIVERY_UNSTARTED, type DeliveryProgress, type SubscriptionState } from '@waypost/domain';
import { silentLogger, type TaskContext } from '@waypost/streams';
import { DeliveryMemory } from '../backlogs/delivery-memory.js';
import { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import { ManualClock } from '../testing/manual-clock.js';
import { SenderHarness } from '../testing/sender-harness.js';
import { aDelivery, anAttempt } from '../testing/sender-samples.js';
import { knownDeliveries, progressOfKnown, restoreKnown } from './known-deliveries.js';
import { recoverSender } from './recover-sender.js';

const NOTHING: Omit<SubscriptionState, 'subscriptionId'> = {
  parkedFrom: null,
  foldFrom: null,
  failingSince: null,
  suspendedAt: null,
  failedDays: [],
  known: null,
  updatedAt: 0,
};

describe('what a new sender reads of its logs (R-25)', () => {
  async function build() {
    const clock = new ManualClock(1_000);
    const harness = await SenderHarness.create({ clock });
    const { backend, codecs, nowMs, monotonicMs } = harness;
    const recover = (offset: number, foldFrom: number) => {
      const context: Partial<TaskContext> = {
        topic: topics.webhookDeliveries.name,
        partition: 0,
        committedOffset: () => Promise.resolve({ offset, metadata: String(foldFrom) }),
      };
      return recoverSender(context as TaskContext, { backend, codecs, logger: silentLogger, nowMs, monotonicMs });
    };
    return { clock, harness, recover };
  }

  it('has the pause that a receiver asked for a moment ago, though no unfinished delivery needs that attempt (R-22)', async () => {
    const { harness, recover } = await build();
    harness.publish(1);
    const startedAt = harness.nowMs() - 1_000;
    const asked = { retryAfterMs: 9_000, outcome: 'failed', decision: 'attempts_exhausted', nextDueAt: null };
    harness.writeAttempt(anAttempt(1, { deliveryOffset: 0, startedAt, durationMs: 10, ...asked }));

    const { waits, newestAppend } = await recover(1, 1);

    expect(waits.get('subscription-1')).toEqual({ probedAt: null, notBefore: startedAt + 9_010 });
    expect(newestAppend).toBe(harness.nowMs());
  });

  it('has the attempts of what only a state record tells of, which may lie before those of the rest (R-26)', async () => {
    const { clock, harness, recover } = await build();
    for (const n of [1, 2, 3]) harness.publish(n, n === 3 ? 'subscription-1' : 'parked');
    const ended = { subscriptionId: 'parked', outcome: 'delivered', decision: 'accepted', nextDueAt: null };
    harness.writeAttempt(anAttempt(2, ended));
    harness.writeAttempt(anAttempt(3, {}));
    harness.writeState({ subscriptionId: 'parked', ...NOTHING, parkedFrom: 0, foldFrom: 0 });
    // Attempts of the last seconds are folded in any case.
    clock.passMs(60_000);

    const { byDelivery, begunBySubscription, begun } = await recover(2, 1);

    expect(byDelivery.get(1)).toEqual({ type: 'finished' });
    expect(begunBySubscription.get('parked')).toEqual({ upTo: 1, foldFrom: 0 });
    expect(begunBySubscription.get('subscription-1')).toEqual({ upTo: 2, foldFrom: 1 });
    expect(begun).toEqual({ upTo: 2, foldFrom: 1 });
  });

  it('has no state of a subscription whose record was deleted since', async () => {
    const { harness, recover } = await build();
    for (const subscriptionId of ['normal by now', 'suspended'])
      harness.writeState({ subscriptionId, ...NOTHING, suspendedAt: 1_000 });
    const states = { topic: topics.subscriptionState.name, partition: 0 };
    harness.backend.append(states, { key: Buffer.from('normal by now'), value: null });

    expect([...(await recover(0, 0)).states.keys()]).toEqual(['suspended']);
  });
});

describe('the deliveries that a state record knows (R-25, R-26)', () => {
  const TRIED: DeliveryProgress = {
    type: 'pending',
    nextAttempt: 3,
    probes: 2,
    dueAt: 5_000,
    firstAttemptAt: 1_000,
    unauthorizedBefore: true,
  };
  const due = { epochMs: 0, monotonicMs: 0 };

  function newBacklogs(): PartitionBacklogs {
    return new PartitionBacklogs({
      limits: { perSubscription: 100, slowAfterMs: Infinity },
      memory: new DeliveryMemory(Infinity, null),
      start: { offset: 0, foldFrom: 0 },
      begun: { upTo: -1, foldFrom: 0 },
      attemptsEnd: () => 500,
      monotonicMs: () => 0,
      isPaused: () => true,
    });
  }

  /** The state of a backlog that is parked at the first of these, with all up to the offset taken in. */
  function stateOf(progress: ReadonlyMap<number, DeliveryProgress>, parkedFrom: number, upTo: number) {
    const backlogs = newBacklogs();
    const backlog = backlogs.backlog('a');
    for (const [offset, one] of progress) backlogs.withdraw(backlog, offset, { progress: one, due });
    backlog.takenUpTo = upTo;
    return { subscriptionId: 'a', ...NOTHING, parkedFrom, foldFrom: 7, known: knownDeliveries(backlog, 9) };
  }

  it('are known again in full by its reader, but for those that have ended since', () => {
    const state = stateOf(
      new Map([
        [4, TRIED],
        [5, TRIED],
        [6, DELIVERY_UNSTARTED],
      ]),
      5,
      8,
    );
    expect([...progressOfKnown(state)]).toEqual([
      [5, TRIED],
      [6, DELIVERY_UNSTARTED],
    ]);
  });

  it('stay finished for one that has to hold them again before it has read them all', () => {
    const state = stateOf(new Map([[5, TRIED]]), 5, 8);
    const backlogs = newBacklogs();
    const backlog = backlogs.backlog('a');
    restoreKnown(backlog, state, { backlogs, byDelivery: new Map(), dueOf: () => due });
    const known = backlogs.readAgain(backlog, 5);
    backlogs.admit({
      ...{ backlog, offset: 5, appendedAt: 0, delivery: aDelivery(5), due, begun: null },
      ...{ progress: known?.progress ?? DELIVERY_UNSTARTED, traceparent: null, tracestate: null, isHeld: true },
    });

    backlogs.withdrawAllButFirst(backlog);

    // Offsets up to it that are not withdrawn are finished.
    expect(backlog.takenUpTo).toBe(8);
  });

  it('have their attempts from where they began, for a record that cannot have the progress of all yet', () => {
    const backlogs = newBacklogs();
    const backlog = backlogs.backlog('a');
    restoreKnown(backlog, stateOf(new Map([[5, TRIED]]), 5, 8), { backlogs, byDelivery: new Map(), dueOf: () => due });
    backlogs.park(backlog, 5);
    expect(backlogs.foldFromOfLowest(backlog)).toBe(7);
  });

  it('are left out where an attempt since has ended them, and go on from it where one has not', () => {
    const backlogs = newBacklogs();
    const backlog = backlogs.backlog('a');
    const known = [5, 6].map((offset): [number, DeliveryProgress] => [offset, TRIED]);
    const later: DeliveryProgress = { ...TRIED, nextAttempt: 4 };
    const byDelivery = new Map<number, DeliveryProgress>([
      [5, { type: 'finished' }],
      [6, later],
    ]);
    restoreKnown(backlog, stateOf(new Map(known), 5, 8), { backlogs, byDelivery, dueOf: () => due });
    expect([...backlog.withdrawn]).toEqual([[6, { progress: later, due }]]);
    expect(byDelivery.size).toBe(0);
  });
});
