import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import { until } from '../../../../../test/support/until.js';
import { minuteMs, openOutageHarness, published } from '../testing/outage-harness.js';
import { type SenderHarness, unavailable } from '../testing/sender-harness.js';

let harness: SenderHarness;
let answer: AttemptResult;

beforeEach(async () => {
  harness = await openOutageHarness();
  answer = unavailable;
});

afterEach(() => harness.stop());

describe('the state of a subscription that only failed (R-29)', () => {
  it.each(['while it is watched', 'while no sender runs'])(
    'leaves no state behind when it is deleted %s',
    async (when) => {
      harness.leaveFailing(4 * minuteMs, 'letting-fail');
      if (when === 'while no sender runs') harness.unsubscribe('letting-fail');
      await harness.start(() => answer);
      if (when === 'while it is watched') harness.unsubscribe('letting-fail');
      harness.publish(1);
      await until(async () => (await harness.states()).get('letting-fail') === null);
    },
  );

  it('keeps its state when the process has not read yet that it exists', async () => {
    harness.leaveFailing(5 * minuteMs);
    harness.unsubscribe('subscription-1');
    harness.unread = () => {
      harness.subscribe('subscription-1', { onOutage: 'hold' });
    };
    await harness.start(() => answer);
    harness.publish(1);
    // Without it, the five minutes would begin again.
    await until(async () => (await published(harness)).includes('suspended'));
  });

  it('leaves no state behind either when an attempt was in flight as it was deleted', async () => {
    harness.leaveFailing(4 * minuteMs, 'letting-fail');
    harness.publish(1, 'letting-fail');
    let end = (): void => undefined;
    const answered = new Promise<void>((resolve) => (end = resolve));
    const made = await harness.start(async ({ delivery }) => {
      if (delivery.eventId === 'event-1') await answered;
      return unavailable;
    });
    await until(() => made.length === 1);
    harness.unsubscribe('letting-fail');
    harness.publish(2);
    await until(async () => (await harness.states()).get('letting-fail') === null);
    end();
    await until(async () => (await harness.attempts()).some(({ eventId }) => eventId === 'event-1'));
    const answeredMs = harness.monotonicMs();
    for (let n = 3; harness.monotonicMs() < answeredMs + 3 * minuteMs; n++) {
      harness.publish(n);
      await until(() => made.some(({ delivery }) => delivery.eventId === `event-${String(n)}`));
    }
    expect((await harness.states()).get('letting-fail')).toBeNull();
  });
});
