import { beforeEach, describe, expect, it } from '@jest/globals';
import { EPOCH, FlowHarness } from '../testing/flow-harness.js';
import { unavailable } from '../testing/sender-harness.js';

let harness: FlowHarness;

beforeEach(() => {
  harness = new FlowHarness();
});

describe('a delivery that is older than the history when it is read from the log again (R-29)', () => {
  it('ends as expired with the number of its next attempt, also if it was begun and is not held any more', async () => {
    const dueAt = EPOCH + harness.clock.atMs - 1;
    const begun = { type: 'pending', nextAttempt: 3, dueAt, firstAttemptAt: EPOCH } as const;
    harness.tooOld.add('event-1');
    harness.take(1, {}, { ...begun, unauthorizedBefore: false, probes: 0 });
    await harness.writes();
    expect(harness.written).toMatchObject([{ outcome: 'expired', attempt: 3, body: null }]);
    expect([harness.sent, harness.finished.length, harness.reserved]).toEqual([[], 1, 0]);
  });
});

describe('an attempt', () => {
  it('counts as being made from its request until its result is in the log, so that it is not past due', async () => {
    const pending = harness.take(1);
    const isSending = [harness.flow.isSending(pending)];
    const look = (): void => void isSending.push(harness.flow.isSending(pending));
    await harness.begin();
    look();
    await harness.ends(unavailable);
    look();
    await harness.writes();
    look();
    expect(isSending).toEqual([false, true, true, false]);
  });
});

describe('a partition that this process gives up (R-25)', () => {
  it('has what is in flight ended when the time for that is over, in its waits and in its requests', async () => {
    harness.take(1);
    await harness.begin();
    const { signal, abortGroup } = harness.sent[0]?.request ?? {};
    expect([signal?.aborted, abortGroup?.aborted]).toEqual([false, false]);
    harness.flow.stop();
    harness.flow.abort();
    expect([signal?.aborted, abortGroup?.aborted]).toEqual([true, true]);
    await harness.ends('aborted');
    expect([harness.reserved, harness.written]).toEqual([0, []]);
    await harness.flow.settled();
  });

  it('is left, and its task fails, also when an attempt breaks, and the reservation is free', async () => {
    const failures: Error[] = [];
    harness.onFailure = (error) => failures.push(error);
    harness.take(1);
    await harness.begin();
    const error = new Error('a bug');
    await harness.ends(error);
    expect([failures, harness.reserved, harness.backlog.inFlight]).toEqual([[error], 0, 0]);
    await harness.flow.settled();
  });
});
