import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { ok, SenderHarness } from './testing/sender-harness.js';
import { aDelivery } from './testing/sender-samples.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

describe('what is not a delivery', () => {
  it('quarantines what is not a delivery and sends the deliveries after it (R-2)', async () => {
    harness.append(Buffer.from('no avro'));
    harness.append(null);
    harness.append(harness.codecs.webhookDeliveries.encode({ ...aDelivery(1), subscriptionId: 'another' }));
    harness.append(harness.codecs.webhookDeliveries.encode({ ...aDelivery(1), eventId: 'a\r\nheader: b' }));
    harness.publish(5);
    await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 5);
    expect((await harness.attempts()).map(({ eventId }) => eventId)).toEqual(['event-5']);
    const rejected = await harness.rejected();
    expect(rejected.map(({ sourceOffset, reason }) => [sourceOffset, reason])).toEqual([
      [0, 'malformed'],
      [1, 'malformed'],
      [2, 'key_mismatch'],
      [3, 'invalid_field'],
    ]);
    expect(rejected[0]).toMatchObject({
      sourceTopic: 'webhook.deliveries',
      sourcePartition: 0,
      sourceKey: Buffer.from('subscription-1'),
      sourceValue: Buffer.from('no avro'),
    });
  });

  it('quarantines what is not a delivery among those that it reads again for a parked subscription', async () => {
    for (const n of [1, 2]) harness.publish(n);
    harness.append(Buffer.from('no avro'));
    harness.publish(4);
    await harness.start(() => ok, { limits: { perSubscription: 1 } });
    await until(async () => (await harness.attempts()).length === 3);
    expect((await harness.rejected()).map(({ sourceOffset }) => sourceOffset)).toEqual([2]);
  });

  describe('while a record waits for the quarantine', () => {
    const junk = (): void => {
      fast.append(Buffer.from('no avro'), [], 'another');
    };
    const eventsOf = async () => (await fast.attempts()).map(({ eventId }) => eventId);
    let fast: SenderHarness;
    /** The waiting gates, in turn. */
    let gates: (() => void)[] = [];
    const beforeQuarantine = (): Promise<void> => new Promise((resolve) => gates.push(resolve));

    beforeEach(async () => {
      gates = [];
      fast = await SenderHarness.create({ speed: 200 });
    });
    afterEach(async () => {
      for (const open of gates) open();
      await fast.stop();
    });

    /** Records appended while the reader waits for the first gate come in one batch. */
    async function inOneBatch(append: () => void): Promise<void> {
      junk();
      await until(() => gates.length === 1);
      append();
      gates[0]?.();
      await until(() => gates.length === 2);
    }

    it('still reads again what was parked just before it (R-25)', async () => {
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const limits = { perSubscription: 1 };
      const made = await fast.start(async () => (await answered, ok), { limits, beforeQuarantine });
      fast.publish(1);
      fast.publish(2);
      await until(() => made.length === 1);
      await inOneBatch(() => {
        fast.publish(3);
        junk();
        fast.publish(4);
      });
      answer();
      await until(async () => (await eventsOf()).includes('event-2'));
      gates[1]?.();
      await until(async () => (await eventsOf()).length === 4);
      expect(await eventsOf()).toEqual(['event-1', 'event-2', 'event-3', 'event-4']);
    });

    it('passes what was finished before it, which is not sent again after a crash (R-25)', async () => {
      fast.publish(1);
      await fast.start(() => ok, { beforeQuarantine });
      await until(async () => (await fast.committedOffset()) === 1);
      await inOneBatch(() => {
        fast.publish(2);
        junk();
      });
      await until(async () => (await fast.committedOffset()) === 3);
      fast.stepClock(60_000);
      const made = await fast.start(() => ok);
      fast.publish(4);
      await until(async () => (await fast.committedOffset()) === 5);
      expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-4']);
    });

    it('is not passed either when its subscription is parked: a successor finds it again (R-2)', async () => {
      fast.publish(1);
      fast.publish(2);
      fast.append(Buffer.from('no avro'));
      fast.publish(4);
      const limits = { perSubscription: 1 };
      await fast.start(() => ok, { limits, beforeQuarantine });
      await until(() => gates.length === 1);
      await until(async () => (await fast.states()).get('subscription-1')?.parkedFrom === 2);
      await fast.start(() => ok, { limits });
      await until(async () => (await fast.attempts()).length === 3);
      expect((await fast.rejected()).map(({ sourceOffset }) => sourceOffset)).toEqual([2]);
    });
  });
});
