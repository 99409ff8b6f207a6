import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { consumerGroups, createAvroCodecs, topics } from '@waypost/contracts';
import type { WebhookDelivery } from '@waypost/domain';
import { createMemoryBackend } from '@waypost/streams/testing';
import { countFetchers } from '../../../../test/support/open-fetchers.js';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import { aDelivery } from '../sender/testing/sender-samples.js';
import { checkpointMetadata, findLostPosition, outputsOf } from './fan-out-checkpoint.js';
import { eventAt, EVENTS, FanOutStage, subscription } from './testing/fan-outs.js';

describe('the metadata of a committed position', () => {
  it('holds a position for each output partition', () => {
    expect(checkpointMetadata([7, 0, 2 ** 40])).toBe('7,0,1099511627776');
    expect(outputsOf('7,0,1099511627776', 3)).toEqual([7, 0, 2 ** 40]);
    expect(outputsOf(checkpointMetadata([3]), 1)).toEqual([3]);
  });

  it.each([
    ['nothing', '', 1],
    ['fewer partitions', '1,2', 3],
    ['more partitions', '1,2,3', 2],
    ['a text', 'a,b', 2],
    ['a fraction', '1.5,2', 2],
  ])('is not a checkpoint when it holds %s', (_, metadata, partitions) => {
    expect(outputsOf(metadata, partitions)).toBeNull();
  });
});

describe('a partition without a committed position', () => {
  const NOW = Date.UTC(2026, 5, 1);
  const HOUR_MS = 3_600_000;

  async function lost(delivery: Partial<WebhookDelivery> | null) {
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    await codecs.webhookDeliveries.prepare();
    const partitions = { [topics.fleetEvents.name]: 1, [topics.webhookDeliveries.name]: 2 };
    const backend = createMemoryBackend({ topics: partitions, now: () => NOW });
    const log = { topic: topics.fleetEvents.name, partition: 0 };
    backend.append(log, { key: null, value: null });
    const deliveries = { topic: topics.webhookDeliveries.name, partition: 1 };
    backend.append(deliveries, { key: null, value: Buffer.from('no avro') });
    const value = codecs.webhookDeliveries.encode({ ...aDelivery(1), createdAt: NOW - HOUR_MS, ...delivery });
    if (delivery) backend.append(deliveries, { key: null, value });
    return findLostPosition({ backend, codecs, nowMs: () => NOW }, { ...log, committed: null, outputs: 2 });
  }

  it.each([
    ['nothing was delivered', null],
    ['the first deliveries were made a moment ago, by other partitions', { createdAt: NOW - 1_000 }],
    ['only test events were delivered', { eventType: 'test' }],
    ['only a replay delivered', { series: 1 }],
  ])('begins at the start of the log when %s', async (_, delivery) => {
    expect(await lost(delivery)).toBeNull();
  });

  it('has lost it when events were delivered an hour ago', async () => {
    expect(await lost({})).toContain('is gone, although deliveries were created before');
  });
});

let stage: FanOutStage;

beforeEach(async () => {
  stage = await FanOutStage.open();
});

afterEach(() => stage.stop());

describe('the fan-out without its position', () => {
  const group = () => stage.backend.group({ groupId: consumerGroups.fanOut.id, topics: [] });

  /** An installation that has delivered two events, and is stage.stopped. */
  async function delivered(): Promise<void> {
    stage.index.put(subscription('s'));
    stage.publish(eventAt(0));
    stage.publish(eventAt(1));
    const fanOut = await stage.start();
    await until(async () => (await stage.committed()) === 2);
    await fanOut.stop();
    stage.nowMs = () => Date.now() + 3_600_000;
  }

  it('stops the partition instead of sending the whole log again, and says what to do', async () => {
    await delivered();
    stage.backend.forgetOffsets(consumerGroups.fanOut.id);
    const fanOut = await stage.start();
    await until(() => stage.stopped.length > 0);
    expect(stage.stopped[0]).toMatchObject({
      reason: 'POSITION_LOST',
      error: expect.stringContaining('waypost tasks seek webhook-delivery.fan-out:0 OFFSET'),
    });
    expect(await stage.written()).toHaveLength(2);

    expect(fanOut.command(EVENTS, { seek: 1 })).toBeNull();
    await until(async () => (await stage.written()).length === 3);
  });

  it('stops at a position beyond the log, and goes on from the one that an operator sets', async () => {
    await delivered();
    await group().commit(EVENTS, { offset: 99, metadata: '' }, -1);
    await stage.start();
    await until(() => stage.stopped.length > 0);
    expect(stage.stopped[0]).toMatchObject({ error: expect.stringContaining('is 99, but the log goes from 0 to 2') });

    await group().commit(EVENTS, { offset: 1, metadata: '' }, -1);
    await until(async () => (await stage.written()).length === 3);
  });
});

describe('the fan-out', () => {
  it('leaves no connection to the brokers behind when it stops, whatever it has looked up', async () => {
    const fetchers = countFetchers(stage.backend);
    stage.publish(eventAt(0));
    for (const events of [1, 2]) {
      await stage.start();
      await until(async () => (await stage.committed()) === events);
      stage.publish(eventAt(events));
    }
    await stage.stop();
    // For the old deliveries of the first start, for those since the checkpoint of each, and to read events.
    expect(fetchers.made).toBeGreaterThan(3);
    expect(fetchers.open).toBe(0);
  });
});

describe('the fan-out over a crash', () => {
  const forEver = new Promise<never>(() => undefined);

  const subscriptions = Array.from({ length: 12 }, (_, i) => `s${String(i)}`);
  const pairs = async (): Promise<string[]> =>
    (await stage.written()).map(({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`);
  const expectEachOnce = async (events: number): Promise<void> => {
    const all = await pairs();
    expect(all).toHaveLength(events * subscriptions.length);
    expect(new Set(all).size).toBe(all.length);
  };

  beforeEach(() => {
    for (const id of subscriptions) stage.index.put(subscription(id));
  });

  it('writes each delivery once when it was killed after a write and before its position was committed', async () => {
    const restore = stage.withAppends(async (writer, records) => {
      await writer.append(records);
      return forEver; // killed before it heard of it
    });
    for (let second = 0; second < 2; second++) stage.publish(eventAt(second));
    await stage.start();
    await until(async () => (await stage.written()).length > 0);
    restore();
    await stage.start();
    const last = stage.publish(eventAt(2));
    await until(async () => (await stage.committed()) === last + 1);
    await expectEachOnce(3);
  });

  it('neither loses nor repeats a delivery when it was killed while a burst waited', async () => {
    // A commit after each write, of a position before events that have their deliveries already.
    let passedMs = 0;
    stage.monotonicMs = () => (passedMs += 1_000);
    let appends = 0;
    const restore = stage.withAppends(async (writer, records) => {
      const bases = await writer.append(records);
      return ++appends > 4 ? forEver : bases;
    });
    for (const fleetId of ['fleet-2', 'fleet-1']) {
      for (const id of subscriptions) stage.index.put(subscription(`${fleetId} ${id}`, { fleetId }));
      for (let second = 0; second < 60; second++) stage.publish({ ...eventAt(second), fleetId });
    }
    await stage.start();
    await until(() => appends > 4);
    expect(await stage.committed()).toBeGreaterThan(0);
    expect(await stage.committed()).toBeLessThan(60);
    restore();
    await stage.start();
    await until(async () => (await stage.committed()) === 120);
    const all = await pairs();
    // fleet-1 has the subscriptions of every spec here as well.
    expect(all).toHaveLength(60 * 3 * subscriptions.length);
    expect(new Set(all).size).toBe(all.length);
  });

  it('repeats nothing when it was killed while it wrote what it cannot use to the quarantine', async () => {
    let passedMs = 0;
    stage.monotonicMs = () => (passedMs += 1_000);
    for (const id of subscriptions) stage.index.put(subscription(`wide ${id}`, { fleetId: 'wide' }));
    const wide = (second: number): number => stage.publish({ ...eventAt(second), fleetId: 'wide' });
    // A burst that is fanned out while the next slice is read, which has some of it as well.
    const sliceRecords = 100;
    for (let second = 0; second < sliceRecords; second++) wide(second);
    stage.backend.append(EVENTS, { key: null, value: Buffer.from('no avro') });
    stage.publish(eventAt(0));
    for (let second = sliceRecords; second < 2 * sliceRecords - 2; second++) wide(second);
    const events = 2 * sliceRecords;
    let quarantine: () => void = () => undefined;
    stage.quarantine = {
      put: (_, [one]) => (one ? new Promise((resolve) => (quarantine = resolve)) : Promise.resolve()),
    };
    await stage.start();
    const deliveries = (events - 1) * subscriptions.length;
    await until(async () => (await stage.written()).length === deliveries);
    await until(async () => (await stage.committed()) === sliceRecords);
    stage.quarantine = null;
    await stage.start();
    await until(async () => (await stage.committed()) === events);
    quarantine();
    const all = await pairs();
    expect(all).toHaveLength(deliveries);
    expect(new Set(all).size).toBe(deliveries);
  });

  it('completes an event that was written to some partitions only', async () => {
    const restore = stage.withAppends(async (writer, records) => {
      await writer.append([...records].filter(({ partition }) => partition < 2));
      return forEver;
    });
    for (let second = 0; second < 5; second++) stage.publish(eventAt(second));
    await stage.start();
    await until(async () => (await stage.written()).length > 0);
    restore();
    await stage.start();
    await until(async () => (await stage.committed()) === 5);
    await expectEachOnce(5);
  });

  it('completes an event with only some deliveries written to a partition', async () => {
    const restore = stage.withAppends(async (writer, records) => {
      await writer.append([...records].slice(0, 7));
      return forEver;
    });
    for (let second = 0; second < 3; second++) stage.publish(eventAt(second));
    await stage.start();
    await until(async () => (await stage.written()).length === 7);
    restore();
    await stage.start();
    await until(async () => (await stage.committed()) === 3);
    await expectEachOnce(3);
  });

  it('finds what was written before the first position was committed, even after two crashes', async () => {
    for (let round = 0; round < 3; round++) {
      const restore = stage.withAppends(async (writer, records) => {
        await writer.append([...records].slice(0, 5));
        return forEver;
      });
      stage.publish(eventAt(round));
      await stage.start();
      await until(async () => (await stage.written()).length >= 5 * (round + 1));
      restore();
    }
    await stage.start();
    await until(async () => (await stage.committed()) === 3);
    await expectEachOnce(3);
  });

  it('finds what was written two crashes ago, even when a new subscription was added in between', async () => {
    stage.publish(eventAt(0));
    await stage.start();
    await until(async () => (await stage.committed()) === 1);
    const restoreFirst = stage.withAppends(async (writer, records) => {
      await writer.append(records);
      return forEver;
    });
    for (let second = 1; second < 3; second++) stage.publish(eventAt(second));
    await stage.start();
    await until(async () => (await stage.written()).length > subscriptions.length);
    restoreFirst();
    // The next one gets through a part only, writes for the new subscription, and dies too.
    stage.index.put(subscription('new'));
    let appends = 0;
    let isWritten = false;
    const restoreSecond = stage.withAppends(async (writer, records) => {
      if (++appends > 1) return forEver;
      const appended = await writer.append(records);
      isWritten = true;
      return appended;
    });
    await stage.start();
    await until(() => isWritten);
    restoreSecond();
    await stage.start();
    const last = stage.publish(eventAt(3));
    await until(async () => (await stage.committed()) === last + 1);
    const all = (await pairs()).filter((pair) => !pair.endsWith(' new'));
    expect(all).toHaveLength(4 * subscriptions.length);
    expect(new Set(await pairs()).size).toBe((await pairs()).length);
  });

  it('refuses the writes of a predecessor that was only paused', async () => {
    let wake: () => void = () => undefined;
    const paused = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let isPaused = false;
    const restore = stage.withAppends(async (writer, records) => {
      isPaused = true;
      await paused;
      return writer.append(records);
    });
    stage.publish(eventAt(0));
    await stage.start();
    await until(() => isPaused);
    restore();
    await stage.start();
    await until(async () => (await stage.committed()) === 1);
    wake();
    await holdsFor(50, () => expectEachOnce(1));
  });

  it('never mistakes a replayed delivery for its original, which has the same event id', async () => {
    stage.publish(eventAt(0));
    await stage.start();
    await until(async () => (await stage.committed()) === 1);
    const [original] = await stage.written();
    if (!original) throw new Error('nothing was written');
    const { partition, ...delivery } = original;
    let isPaused = false;
    const restore = stage.withAppends(() => {
      isPaused = true;
      return forEver;
    });
    stage.publish(eventAt(1));
    await stage.start();
    await until(() => isPaused);
    restore();
    stage.backend.append(
      { topic: topics.webhookDeliveries.name, partition },
      {
        key: Buffer.from(delivery.subscriptionId),
        value: stage.codecs.webhookDeliveries.encode({ ...delivery, series: 1 }),
      },
    );
    await stage.start();
    await until(async () => (await stage.committed()) === 2);
    expect((await stage.written()).filter(({ series }) => series === 0)).toHaveLength(2 * subscriptions.length);
  });
});
