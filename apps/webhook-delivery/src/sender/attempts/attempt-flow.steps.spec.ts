import { beforeEach, describe, expect, it } from '@jest/globals';
import { HEALTHY } from '@waypost/domain';
import { EPOCH, FlowHarness } from '../testing/flow-harness.js';
import { ok, unavailable } from '../testing/sender-harness.js';
import { aSubscription } from '../testing/sender-samples.js';

let harness: FlowHarness;

beforeEach(() => {
  harness = new FlowHarness();
});

function eventsSent(): string[] {
  return harness.sent.map(({ request }) => request.delivery.eventId);
}

function becomesStrict(): void {
  harness.subscription = { ...aSubscription('subscription-1'), strictOrder: true };
  harness.flow.orderChanged(harness.backlog);
}

describe('the probe of a suspended subscription (R-29)', () => {
  beforeEach(() => {
    for (const n of [1, 2]) harness.take(n);
    harness.suspend();
  });

  it('is followed by another when a pause kept it from being sent, or no delivery would go out again (R-16)', async () => {
    harness.flow.probe(harness.backlog);
    await harness.begin();
    await harness.ends('paused');
    harness.flow.probe(harness.backlog);
    await harness.begin();
    expect([eventsSent(), harness.written, harness.reserved]).toEqual([['event-1', 'event-1'], [], 1]);
  });

  it('stays the only one until it has ended, also when its subscription is paused meanwhile', async () => {
    harness.flow.probe(harness.backlog);
    await harness.begin();
    harness.flow.hold(harness.backlog);
    expect([harness.flow.probe(harness.backlog), harness.waiting]).toEqual([true, []]);
  });

  it('is not that of a delivery whose end as expired is being written, which is written once', async () => {
    harness.tooOld.add('event-1');
    for (let times = 0; times < 2; times += 1) harness.flow.expire(harness.backlog);
    harness.flow.probe(harness.backlog);
    expect([harness.written.map(({ eventId }) => eventId), harness.waiting]).toEqual([['event-1'], ['event-2']]);
    // In flight, or the backlog would leave memory around it.
    expect([harness.backlog.expiring, harness.backlog.inFlight]).toEqual([1, 1]);
    await harness.writes();
    expect(harness.finished.map(({ offset }) => offset)).toEqual([1]);
    expect([harness.backlog.expiring, harness.backlog.inFlight]).toEqual([0, 0]);
  });

  it('is followed by one of the next delivery when it has ended its own, refused for good or accepted', async () => {
    harness.flow.probe(harness.backlog);
    await harness.begin();
    await harness.ends({ type: 'response', statusCode: 422 });
    await harness.writes();
    harness.flow.probe(harness.backlog);
    expect([harness.finished.map(({ offset }) => offset), harness.waiting]).toEqual([[1], ['event-2']]);
  });

  it('has ended before the oldest delivery ends as expired', async () => {
    harness.flow.probe(harness.backlog);
    await harness.begin();
    for (const eventId of ['event-1', 'event-2']) harness.tooOld.add(eventId);
    harness.flow.expire(harness.backlog);
    expect(harness.written).toEqual([]);
    await harness.ends(unavailable);
    await harness.writes();
    harness.flow.expire(harness.backlog);
    expect(harness.written.map(({ eventId, outcome }) => [eventId, outcome])).toEqual([
      ['event-1', 'retrying'],
      ['event-1', 'expired'],
    ]);
  });

  it('gives its reservation back when it was not accepted, also if the suspension has ended by then (R-26)', async () => {
    harness.flow.probe(harness.backlog);
    await harness.begin();
    harness.backlog.health = HEALTHY;
    harness.flow.release(harness.backlog);
    await harness.ends(unavailable);
    await harness.writes();
    expect([harness.reserved, harness.waiting]).toEqual([0, ['event-2', 'event-1']]);
  });
});

describe('a probe that waits for a reservation when its subscription is held no more (R-29)', () => {
  it('is an ordinary attempt, and another suspension gets a probe of its own', async () => {
    harness.take(1);
    harness.suspend();
    harness.flow.probe(harness.backlog);
    harness.backlog.health = HEALTHY;
    harness.flow.release(harness.backlog);
    await harness.begin();
    await harness.ends(unavailable);
    await harness.writes();
    harness.suspend();
    harness.clock.passMs(15_000);
    expect(harness.waiting).toEqual([]);
    harness.flow.probe(harness.backlog);
    expect(harness.waiting).toEqual(['event-1']);
  });
});

describe('a retry that came due during a hold and is read from the log again (R-26)', () => {
  it('waits for a reservation: that it had before is in use elsewhere', async () => {
    const pending = harness.take(1);
    await harness.begin();
    await harness.ends(unavailable);
    await harness.writes();
    harness.suspend();
    harness.flow.withdraw(pending);
    harness.clock.passMs(15_000);
    harness.backlog.health = HEALTHY;
    harness.flow.release(harness.backlog);
    harness.take(1, {}, pending.progress);
    await harness.begin({ isFull: true });
    expect([harness.sent.length, harness.reserved, harness.waiting]).toEqual([1, 0, ['event-1']]);
    await harness.begin();
    expect(harness.sent.map(({ request }) => request.attempt)).toEqual([1, 2]);
  });

  it('keeps its reservation if it was in flight when the hold ended', async () => {
    harness.take(1);
    await harness.begin();
    harness.suspend();
    await harness.ends(unavailable);
    harness.clock.passMs(15_000);
    harness.backlog.health = HEALTHY;
    harness.flow.release(harness.backlog);
    await harness.writes();
    expect([harness.sent.length, harness.reserved]).toEqual([2, 1]);
  });
});

describe('a partition that this process gives up (R-25)', () => {
  it('is left only when a retry has ended that was due as the attempt before it got into the log', async () => {
    harness.take(1);
    await harness.begin();
    await harness.ends(unavailable);
    harness.clock.passMs(15_000);
    await harness.writes();
    expect(harness.sent.map(({ request }) => request.attempt)).toEqual([1, 2]);
    let isLeft = false;
    harness.flow.stop();
    void harness.flow.settled().then(() => (isLeft = true));
    await harness.begin();
    expect(isLeft).toBe(false);
    await harness.ends(ok);
    await harness.writes();
    expect(isLeft).toBe(true);
  });

  it('leaves it to the successor to end a delivery as expired', () => {
    harness.take(1);
    harness.suspend();
    harness.tooOld.add('event-1');
    harness.flow.stop();
    harness.flow.expire(harness.backlog);
    expect(harness.written).toEqual([]);
  });

  it('is left only once the end of an expired delivery is in the log', async () => {
    harness.tooOld.add('event-1');
    harness.take(1);
    let isLeft = false;
    harness.flow.stop();
    void harness.flow.settled().then(() => (isLeft = true));
    await harness.begin();
    expect(isLeft).toBe(false);
    await harness.writes();
    expect(isLeft).toBe(true);
  });

  it('gets no retry here that comes due afterwards, whose reservation is free for other partitions (R-26)', async () => {
    const pending = harness.take(1);
    await harness.begin();
    await harness.ends(unavailable);
    await harness.writes();
    harness.take(2);
    harness.flow.stop();
    harness.clock.passMs(15_000);
    await harness.begin();
    harness.flow.withdraw(pending);
    expect([eventsSent(), harness.reserved]).toEqual([['event-1'], 0]);
  });

  it('keeps as unfinished what the log did not take, whether it was accepted or expired', async () => {
    harness.take(1);
    await harness.begin();
    await harness.ends(ok);
    harness.tooOld.add('event-2');
    harness.take(2);
    await harness.writes({ isDurable: false });
    expect([harness.written.length, harness.finished]).toEqual([2, []]);
  });

  it('gets no retry here any more when the group does not confirm that it is still ours', async () => {
    harness.take(1);
    await harness.begin();
    await harness.ends(unavailable);
    await harness.writes();
    harness.isOwner = false;
    harness.clock.passMs(15_000);
    await harness.begin();
    expect([harness.asked, harness.sent.length, harness.reserved, harness.waiting]).toEqual([1, 1, 0, []]);
  });
});

describe('a paused subscription (R-16)', () => {
  it('gives the reservation of a retry back that comes due meanwhile (R-26)', async () => {
    harness.take(1);
    await harness.begin();
    await harness.ends(unavailable);
    await harness.writes();
    expect(harness.reserved).toBe(1);
    harness.backlog.isPaused = true;
    harness.flow.hold(harness.backlog);
    harness.clock.passMs(15_000);
    expect([harness.reserved, harness.sent.length]).toEqual([0, 1]);
  });

  it('reserves nothing for what a predecessor began (R-26)', () => {
    harness.backlog.isPaused = true;
    const dueAt = EPOCH + harness.clock.atMs + 5_000;
    const begun = { type: 'pending', nextAttempt: 2, dueAt, firstAttemptAt: EPOCH } as const;
    const pending = harness.take(1, {}, { ...begun, unauthorizedBefore: false, probes: 0 });
    expect([harness.reserved, pending.isHeld]).toEqual([0, true]);
  });

  it('keeps no reservation of what a pause kept from being sent, if it is active again by then (R-26)', async () => {
    harness.take(1);
    await harness.begin();
    harness.flow.hold(harness.backlog);
    harness.flow.release(harness.backlog);
    await harness.ends('paused');
    expect([harness.reserved, harness.waiting]).toEqual([0, ['event-1']]);
  });

  it('gets each delivery once when its pause and its suspension end one after the other', async () => {
    for (const n of [1, 2]) harness.take(n);
    harness.flow.hold(harness.backlog);
    for (let times = 0; times < 2; times += 1) harness.flow.release(harness.backlog);
    await harness.begin();
    expect(eventsSent()).toEqual(['event-1', 'event-2']);
  });
});

describe('a subscription that becomes strict (R-28)', () => {
  beforeEach(() => {
    for (const n of [1, 2]) harness.take(n, { deviceId: 'van' });
  });

  it('has only the first delivery of a device wait to begin', () => {
    becomesStrict();
    expect(harness.waiting).toEqual(['event-1']);
  });

  it('has only the first one begin at the end of a pause in which it became strict (R-16)', () => {
    harness.backlog.isPaused = true;
    harness.flow.hold(harness.backlog);
    becomesStrict();
    harness.backlog.isPaused = false;
    harness.flow.release(harness.backlog);
    expect(harness.waiting).toEqual(['event-1']);
  });

  it('sends a delivery that left memory when it is read again and those before it have ended', async () => {
    becomesStrict();
    const [, second] = [...harness.backlog.unfinished.values()];
    if (second) harness.flow.withdraw(second.pending);
    harness.backlog.unfinished.delete(2);
    harness.take(2, { deviceId: 'van' });
    await harness.begin();
    await harness.ends(ok);
    await harness.writes();
    await harness.begin();
    await harness.ends(ok);
    await harness.writes();
    expect([eventsSent(), harness.waiting, harness.reserved]).toEqual([['event-1', 'event-2'], [], 0]);
  });
});

describe('what an attempt says about its endpoint (R-29)', () => {
  it('is that a delivery has failed only with its last attempt, and an acceptance only after failures', async () => {
    harness.take(1);
    await harness.begin();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await harness.ends(unavailable);
      await harness.writes();
      harness.clock.passMs(15_000);
    }
    expect(harness.outcomes.map(({ isFailure }) => isFailure)).toEqual([false, false, false, false, true]);
    harness.outcomes.length = 0;
    for (const failingSince of [null, 1]) {
      harness.backlog.health = { ...HEALTHY, failingSince };
      harness.take(2);
      await harness.begin();
      await harness.ends(ok);
      await harness.writes();
    }
    expect(harness.outcomes.map(({ isAccepted }) => isAccepted)).toEqual([true]);
  });
});
