import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { succeed } from '../testing/succeed.js';

const SPEED = 100;
const HELD = 'held';
/** More than the sender waits before it writes again what has not changed, and more than the longest wait. */
const LONG_MS = 40_000;

let harness: SenderHarness;
let published = 0;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: SPEED });
  for (const id of [HELD, 'other']) harness.subscribe(id);
  published = 0;
});

afterEach(() => harness.stop());

/** Others get theirs meanwhile. @returns how many attempts the log has then */
async function longPasses(): Promise<number> {
  for (const endMs = harness.monotonicMs() + LONG_MS; harness.monotonicMs() < endMs;) {
    const before = (await harness.attempts()).length;
    harness.publish(++published, 'other');
    await until(async () => (await harness.attempts()).length > before);
  }
  return (await harness.attempts()).length;
}

describe('a subscription that is held for long (R-16, R-26)', () => {
  it('has a successor fold the attempts of the last minute only, although a delivery of it waits', async () => {
    harness.subscribe(HELD, { status: 'paused' });
    harness.publish(++published, HELD);
    await harness.start(() => ok);
    const early = await longPasses();
    await longPasses();
    await longPasses();
    const { made, foldsFrom } = await succeed(harness);
    expect(foldsFrom).toBeGreaterThan(early);
    harness.subscribe(HELD, { status: 'active' });
    await until(() => made.length === 1);
    expect(made[0]?.delivery.subscriptionId).toBe(HELD);
  });

  it('has a successor go on with what had been tried, and send nothing again that was accepted', async () => {
    const isOdd = (eventId: string): boolean => Number(eventId.slice(6)) % 2 === 1;
    for (let n = 1; n <= 20; n++) harness.publish(++published, HELD);
    await harness.start(({ delivery: { subscriptionId, eventId } }) =>
      subscriptionId === HELD && isOdd(eventId) ? unavailable : ok,
    );
    await until(async () => (await harness.attempts()).length >= 20);
    harness.subscribe(HELD, { status: 'paused' });
    const early = await longPasses();
    const triedBefore = new Map((await harness.attempts()).map(({ eventId, attempt }) => [eventId, attempt]));
    await longPasses();
    await longPasses();
    const { made, foldsFrom } = await succeed(harness);
    expect(foldsFrom).toBeGreaterThan(early);
    await longPasses();
    // Again, by one that has it from a record alone.
    const successor = await succeed(harness);
    harness.subscribe(HELD, { status: 'active' });
    const retries = () => successor.made.filter(({ delivery }) => delivery.subscriptionId === HELD);
    await until(() => retries().length === 10);
    expect(made.filter(({ delivery }) => delivery.subscriptionId === HELD)).toEqual([]);
    for (const { delivery, attempt } of retries()) {
      expect(isOdd(delivery.eventId)).toBe(true);
      expect(attempt).toBe((triedBefore.get(delivery.eventId) ?? NaN) + 1);
    }
    await until(async () => (await harness.states()).get(HELD) === null);
  });

  it('has a successor fold no more right after the hold, while the first of what waited is being sent', async () => {
    harness.subscribe(HELD, { onOutage: 'hold' });
    harness.leaveFailing(300_000, HELD);
    for (let n = 1; n <= 3; n++) harness.publish(++published, HELD);
    let isUp = false;
    await harness.start(({ delivery }) => {
      if (delivery.subscriptionId !== HELD) return ok;
      return isUp && delivery.eventId !== 'event-2' ? ok : unavailable;
    });
    await until(async () => (await harness.states()).get(HELD)?.suspendedAt != null);
    const early = await longPasses();
    await longPasses();
    isUp = true;
    await until(async () =>
      (await harness.attempts()).some(({ eventId, outcome }) => eventId === 'event-3' && outcome === 'delivered'),
    );
    const { made, foldsFrom } = await succeed(harness);
    expect(foldsFrom).toBeGreaterThan(early);
    await until(() => made.length === 1);
    expect(made[0]?.delivery.eventId).toBe('event-2');
  });
});
