import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DAY_MS, RETENTION_MS } from '@waypost/domain';
import { until } from '../../../../../test/support/until.js';
import { ok, SenderHarness } from '../testing/sender-harness.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

async function outcomes(): Promise<[string, string][]> {
  return (await harness.attempts()).map(({ eventId, outcome }) => [eventId, outcome]);
}

/** Sends one after the other, so that the sender knows the time of the first when it gets the second. */
async function startWithOne() {
  harness.publish(1);
  const made = await harness.start(() => ok);
  await until(async () => (await harness.attempts()).length === 1);
  return made;
}

describe('a clock (R-29)', () => {
  it('expires nothing if it is set 16 days ahead: deliveries are sent, and an error is logged', async () => {
    const made = await startWithOne();
    harness.stepClockOfSenders(16 * DAY_MS);
    harness.publish(2);
    harness.publish(3);
    await until(async () => (await harness.attempts()).length === 3);
    expect(made.map(({ delivery, attempt }) => [delivery.eventId, attempt])).toEqual([
      ['event-1', 1],
      ['event-2', 1],
      ['event-3', 1],
    ]);
    expect(await outcomes()).toEqual([
      ['event-1', 'delivered'],
      ['event-2', 'delivered'],
      ['event-3', 'delivered'],
    ]);
    expect(harness.errors).toEqual(['clock_doubted']);
  });

  it('does not make deliveries old if their creator sets it to 1970: the time of the broker counts', async () => {
    await startWithOne();
    harness.publishAt(2, harness.nowMs(), { createdAt: 0 });
    await until(async () => (await harness.attempts()).length === 2);
    expect(await outcomes()).toEqual([
      ['event-1', 'delivered'],
      ['event-2', 'delivered'],
    ]);
    expect(harness.errors).toEqual([]);
  });

  it('changes nothing if it is off by less than an hour: deliveries that waited for 15 days expire', async () => {
    harness.publishAt(1, harness.nowMs() - RETENTION_MS + 30 * 60_000);
    harness.publish(2);
    harness.stepClockOfSenders(40 * 60_000);
    await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 2);
    expect(await outcomes()).toEqual([
      ['event-1', 'expired'],
      ['event-2', 'delivered'],
    ]);
    expect(harness.errors).toEqual([]);
  });

  it('is not needed after a restart to know what has expired while nothing new comes: its own attempts tell the time', async () => {
    await startWithOne();
    await harness.stop();
    harness.publishAt(2, harness.nowMs() - RETENTION_MS - 60_000);
    await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 2);
    expect(await outcomes()).toEqual([
      ['event-1', 'delivered'],
      ['event-2', 'expired'],
    ]);
    expect(harness.errors).toEqual([]);
  });
});
