import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WebhookAttempt } from '@waypost/domain';
import { until } from '../../../../test/support/until.js';
import type { AttemptRequest } from '../single-attempt/attempt-runner.js';
import { ok, SenderHarness, unavailable } from './testing/sender-harness.js';
import { aDelivery } from './testing/sender-samples.js';

/** The 15 s between probes pass in 50 ms. */
const SPEED = 300;
const DEVICES = 3;
const FEW = { limits: { perSubscription: 6 } };

async function openFailing(): Promise<SenderHarness> {
  const harness = await SenderHarness.create({ speed: SPEED });
  harness.subscribe('subscription-1', { onOutage: 'hold', strictOrder: true });
  harness.leaveFailing(5 * 60_000);
  return harness;
}

function deviceOf(n: number): string {
  return `device-${String(n % DEVICES)}`;
}

function isFinal({ outcome }: WebhookAttempt): boolean {
  return outcome !== 'retrying';
}

async function finals(harness: SenderHarness): Promise<WebhookAttempt[]> {
  return (await harness.attempts()).filter(isFinal);
}

describe('a subscription with strict order that is suspended, then paused, and gets a replay meanwhile', () => {
  it('gets everything once and in the order of the log, at its rate, when it is active again (R-16, R-28, R-29, R-30)', async () => {
    const harness = await openFailing();
    let isUp = false;
    for (let n = 1; n <= 12; n++) harness.publish(n, 'subscription-1', deviceOf(n));
    const isRefused = ({ attempt, delivery }: AttemptRequest): boolean =>
      attempt < 3 && Number(delivery.eventId.slice(6)) % 4 === 0;
    const made = await harness.start((request) => (isUp && !isRefused(request) ? ok : unavailable), FEW);
    await until(async () => (await harness.operations()).some(({ type }) => type === 'suspended'));
    harness.subscribe('subscription-1', { onOutage: 'hold', strictOrder: true, status: 'paused' });
    for (let n = 1; n <= 12; n++) {
      const again = { ...aDelivery(n), deviceId: deviceOf(n), series: 1, replayId: 'replay-1' };
      harness.append(harness.codecs.webhookDeliveries.encode(again));
    }
    for (let n = 13; n <= 24; n++) harness.publish(n, 'subscription-1', deviceOf(n));
    await until(async () => (await harness.committedOffset()) === 36);
    const before = made.length;
    isUp = true;
    harness.subscribe('subscription-1', { onOutage: 'hold', strictOrder: true, rateLimitPerSecond: 1 });
    await until(async () => (await finals(harness)).length >= 36);
    await harness.stop();
    const ended = await finals(harness);
    expect(ended.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 36 }, () => 'delivered'));
    for (let device = 0; device < DEVICES; device++) {
      const offsets = ended.filter(({ deviceId }) => deviceId === deviceOf(device)).map((one) => one.deliveryOffset);
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      expect(new Set(offsets).size).toBe(12);
    }
    const firsts = made.slice(before).filter(({ attempt }) => attempt === 1);
    const starts = firsts.map(({ started }) => started.monotonicMs);
    // The probe, which may be the first, does not wait for the rate.
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual((starts.length - 3) * 1_000);
  });
});

const changes = fc.array(
  fc.record({
    wishes: fc.record({
      status: fc.constantFrom('active', 'active', 'paused'),
      strictOrder: fc.boolean(),
      onOutage: fc.constantFrom('hold', 'hold', 'fail'),
      rateLimitPerSecond: fc.constantFrom(null, null, 1),
    }),
    isUp: fc.boolean(),
    isHandedOver: fc.boolean(),
    /** Until the next one, of real time: what is held goes back to the log within the longest of them. */
    lastsMs: fc.integer({ min: 0, max: 150 }),
  }),
  { minLength: 4, maxLength: 10 },
);

describe('a subscription that is changed again and again, while its endpoint comes and goes and senders follow each other', () => {
  it('has each attempt of each delivery once, in order, without gaps, and one end (R-16, R-25, R-28, R-29)', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (plan) => {
        const harness = await openFailing();
        let isUp = false;
        let published = 0;
        const answer = () => (isUp ? ok : unavailable);
        const publishSome = (): void => {
          for (let i = 0; i < 6; i++) harness.publish(++published, 'subscription-1', deviceOf(published));
        };
        await harness.start(answer, FEW);
        for (const { wishes, lastsMs, ...next } of plan) {
          isUp = next.isUp;
          publishSome();
          harness.subscribe('subscription-1', wishes);
          if (next.isHandedOver) await harness.start(answer, FEW);
          await new Promise((resolve) => setTimeout(resolve, lastsMs));
          publishSome();
        }
        isUp = true;
        harness.subscribe('subscription-1', { onOutage: 'hold' });
        await until(async () => (await finals(harness)).length >= published);
        await harness.stop();
        const attempts = await harness.attempts();
        for (let offset = 0; offset < published; offset++) {
          const its = attempts.filter(({ deliveryOffset }) => deliveryOffset === offset);
          expect(its.map(isFinal)).toEqual(its.map((_, i) => i === its.length - 1));
          const counted = its.filter(({ probe }) => !probe).map(({ attempt }) => attempt);
          expect(counted).toEqual(counted.map((_, i) => i + 1));
        }
      }),
      { numRuns: 8 },
    );
  });
});
