import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import {
  type AvroCodecs,
  consumerGroups,
  createAvroCodecs,
  type FleetEvent,
  topics,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/contracts';
import { Quarantine } from '@waypost/platform';
import {
  createMemoryBackend,
  type FencedWriter,
  partitionForKey,
  silentLogger,
  type TaskManager,
} from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { eventOf, subscriptionOf } from '../../../../test/support/samples.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import { createFlushScheduler } from '../common/flush-scheduler.js';
import { nodeTimers } from '../common/timers.js';
import { createSubscriptionIndex } from '../subscriptions/subscription-directory.js';
import { createFanOut, valuesOf } from './testing/fan-outs.js';

const EVENTS = { topic: topics.fleetEvents.name, partition: 0 };
const OUTPUTS = 4;
const INTERVALS = { intervalMs: 1, busyIntervalMs: 1 };

let codecs: AvroCodecs;
let index: ReturnType<typeof createSubscriptionIndex>;
let caughtUp: number;
let backend: ReturnType<typeof createMemoryBackend>;
let fanOuts: TaskManager[];
let stopped: object[];
let clock: () => number;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  index = createSubscriptionIndex();
  caughtUp = 0;
  fanOuts = [];
  stopped = [];
  clock = Date.now;
  backend = createMemoryBackend({
    topics: { [EVENTS.topic]: 1, [topics.webhookDeliveries.name]: OUTPUTS, [topics.telemetryRejected.name]: 1 },
    now: Date.now,
  });
});

afterEach(async () => {
  await Promise.all(fanOuts.map((fanOut) => fanOut.stop()));
});

/** The next one takes the place of the one before, as a restarted process does. */
async function start(): Promise<TaskManager> {
  const directory = {
    ...index,
    caughtUp: () => {
      caughtUp++;
      return Promise.resolve();
    },
  };
  const error = (event: string, fields?: object): void => {
    if (event === 'partition_stopped') stopped.push(fields ?? {});
  };
  const fanOut = createFanOut({
    ...{ backend, codecs, directory, logger: { ...silentLogger, error }, now: () => clock(), instanceId: 'fan-out-0' },
    flushScheduler: createFlushScheduler({ timers: nodeTimers, now: Date.now, intervals: INTERVALS }),
    metrics: { deliveryCreated: () => undefined },
    quarantine: new Quarantine({ backend, codecs, metrics: new Registry(), logger: silentLogger }),
    onFatal: (error) => {
      throw error;
    },
  });
  fanOuts.push(fanOut);
  await fanOut.start();
  return fanOut;
}

const aSubscription = (id: string, more: Partial<WebhookSubscription> = {}) => subscriptionOf({ id, ...more });

function eventAt(second: number): FleetEvent {
  return eventOf({
    ...{ eventTime: Date.UTC(2026, 0, 1) + second * 1_000, latitude: 1, longitude: 2 },
    ...{ speedInKmh: 0, ignition: false },
  });
}

function publish(event: FleetEvent): number {
  return backend.append(EVENTS, { key: Buffer.from('device-1'), value: codecs.fleetEvents.encode(event) });
}

function written() {
  return valuesOf(backend, codecs.webhookDeliveries, topics.webhookDeliveries.name, OUTPUTS);
}

const rejected = () => valuesOf(backend, codecs.telemetryRejected, topics.telemetryRejected.name, 1);

async function committed(): Promise<number> {
  return (await backend.group({ groupId: consumerGroups.fanOut.id, topics: [] }).committed(EVENTS))?.offset ?? 0;
}

/** What becomes of one event that comes now. */
async function fanOut(): Promise<(WebhookDelivery & { partition: number })[]> {
  if (fanOuts.length === 0) await start();
  const before = new Set((await written()).map(({ eventId }) => eventId));
  const offset = publish(eventAt(before.size));
  await until(async () => (await committed()) === offset + 1);
  return (await written()).filter(({ eventId }) => !before.has(eventId));
}

describe('the fan-out (R-16)', () => {
  it('makes one delivery per subscription of the fleet, type and device, and none for a disabled one', async () => {
    index.put(aSubscription('all devices'));
    index.put(aSubscription('this device', { deviceIds: ['device-1'] }));
    index.put(aSubscription('another device', { deviceIds: ['device-2'] }));
    index.put(aSubscription('paused', { status: 'paused' }));
    index.put(aSubscription('disabled', { status: 'disabled' }));
    index.put(aSubscription('another type', { eventType: 'ignition_on' }));
    index.put(aSubscription('another fleet', { fleetId: 'fleet-2' }));
    expect((await fanOut()).map(({ subscriptionId }) => subscriptionId).sort()).toEqual([
      'all devices',
      'paused',
      'this device',
    ]);
  });

  it('freezes the body with the known fields only (R-13, R-15)', async () => {
    index.put(aSubscription('s'));
    const before = Date.now();
    const [delivery] = await fanOut();
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      eventId: delivery?.eventId,
      eventTime: '2026-01-01T00:00:00.000Z',
      eventType: 'position',
      eventData: {
        deviceId: 'device-1',
        fleetId: 'fleet-1',
        latitude: 1,
        longitude: 2,
        speedInKmh: 0,
        ignition: false,
      },
    });
    expect(delivery).toMatchObject({ series: 0, replayId: null });
    expect(delivery?.createdAt).toBeGreaterThanOrEqual(before);
    expect(delivery?.createdAt).toBeLessThanOrEqual(Date.now());
  });

  it('writes under an id of its own for each partition of events, since a second writer of the same id fences the first', async () => {
    const ids: string[] = [];
    const whole = backend.fencedWriter.bind(backend);
    backend.fencedWriter = (id, partitions) => {
      ids.push(id);
      return whole(id, partitions);
    };
    await fanOut();
    expect(ids).toEqual(['webhook-delivery.fan-out.0']);
  });

  it('puts a delivery on the partition of its subscription', async () => {
    for (let i = 0; i < 20; i++) index.put(aSubscription(`s${String(i)}`));
    const deliveries = await fanOut();
    expect(deliveries).toHaveLength(20);
    for (const { subscriptionId, partition } of deliveries) {
      expect(partition).toBe(partitionForKey(Buffer.from(subscriptionId), OUTPUTS));
    }
  });

  it('writes the deliveries of a subscription in the order of the events (R-28)', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => `s${String(i)}`);
    for (const id of ids) index.put(aSubscription(id));
    // More than one slice of a batch.
    const events = Array.from({ length: 600 }, (_, second) => eventAt(second));
    for (const event of events) publish(event);
    await start();
    await until(async () => (await committed()) === events.length);
    const all = await written();
    for (const id of ids) {
      const times = all.filter(({ subscriptionId }) => subscriptionId === id).map(({ eventTime }) => eventTime);
      expect(times).toEqual(events.map(({ eventTime }) => eventTime));
    }
  });

  it('reads the subscriptions to their end before an event, so that an earlier acknowledged one is served', async () => {
    await fanOut();
    expect(caughtUp).toBe(1);
  });

  it('follows changes: newer versions apply, older ones published again do not, deleted ones disappear', async () => {
    index.put(aSubscription('s', { version: 2, status: 'disabled' }));
    index.put(aSubscription('s', { version: 1 }));
    expect(await fanOut()).toEqual([]);
    index.put(aSubscription('s', { version: 3 }));
    expect(await fanOut()).toHaveLength(1);
    index.remove('s');
    expect(await fanOut()).toEqual([]);
  });
});

describe('the fan-out and what it cannot use', () => {
  it('quarantines what is not an event, and an event whose time is beyond the calendar, and goes on (R-2)', async () => {
    index.put(aSubscription('s'));
    backend.append(EVENTS, { key: Buffer.from('device-1'), value: Buffer.from('no avro') });
    backend.append(EVENTS, { key: null, value: null });
    publish({ ...eventAt(0), eventTime: 2 ** 51 });
    publish(eventAt(1));
    await start();
    await until(async () => (await committed()) === 4);
    expect(await written()).toMatchObject([{ eventTime: eventAt(1).eventTime }]);
    expect((await rejected()).map(({ sourceOffset, reason }) => [sourceOffset, reason])).toEqual([
      [0, 'malformed'],
      [1, 'malformed'],
      [2, 'invalid_field'],
    ]);
  });

  it.each([
    ['a payload format', 'position', 'v9'],
    ['an event type', 'tyre_burst', 'v1'],
  ])('waits with the partition at %s that only a newer build knows', async (_, eventType, payloadFormat) => {
    index.put(aSubscription('s', { eventType, payloadFormat }));
    publish({ ...eventAt(0), eventType });
    const fanOut = await start();
    await until(() => stopped.length > 1);
    expect(stopped[0]).toMatchObject({ partition: 'fleet.events-0', reason: 'NEWER_VERSION' });
    expect(fanOut.ready()).toBe(false);
    expect([await written(), await rejected()]).toEqual([[], []]);

    index.put(aSubscription('s', { version: 2, eventType, status: 'disabled' }));
    await until(async () => (await committed()) === 1);
  });
});

describe('the fan-out without its position', () => {
  const group = () => backend.group({ groupId: consumerGroups.fanOut.id, topics: [] });

  /** An installation that has delivered two events, and is stopped. */
  async function delivered(): Promise<void> {
    index.put(aSubscription('s'));
    publish(eventAt(0));
    publish(eventAt(1));
    const fanOut = await start();
    await until(async () => (await committed()) === 2);
    await fanOut.stop();
    clock = () => Date.now() + 3_600_000;
  }

  it('stops the partition instead of sending the whole log again, and says what to do', async () => {
    await delivered();
    backend.forgetOffsets(consumerGroups.fanOut.id);
    await start();
    await until(() => stopped.length > 0);
    expect(stopped[0]).toMatchObject({
      reason: 'POSITION_LOST',
      error: expect.stringContaining('kafka-consumer-groups --group webhook-delivery.fan-out --topic fleet.events:0'),
    });
    expect(await written()).toHaveLength(2);
  });

  it('stops at a position beyond the log, and goes on from the one that an operator sets', async () => {
    await delivered();
    await group().commit(EVENTS, { offset: 99, metadata: '' });
    await start();
    await until(() => stopped.length > 0);
    expect(stopped[0]).toMatchObject({ error: expect.stringContaining('is 99, but the log goes from 0 to 2') });

    await group().commit(EVENTS, { offset: 1, metadata: '' });
    await until(async () => (await written()).length === 3);
  });
});

describe('the fan-out over a crash', () => {
  /** Lets the test decide what becomes of the appends of fan-outs that start from now on. */
  const withAppends = (append: (writer: FencedWriter, records: Parameters<FencedWriter['append']>[0]) => unknown) => {
    const whole = backend.fencedWriter.bind(backend);
    backend.fencedWriter = (transactionalId, partitions) => {
      const writer = whole(transactionalId, partitions);
      return { ...writer, append: async (records) => (await append(writer, records)) as never };
    };
    return () => {
      backend.fencedWriter = whole;
    };
  };
  const forEver = new Promise<never>(() => undefined);

  const subscriptions = Array.from({ length: 12 }, (_, i) => `s${String(i)}`);
  const pairs = async (): Promise<string[]> =>
    (await written()).map(({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`);
  const expectEachOnce = async (events: number): Promise<void> => {
    const all = await pairs();
    expect(all).toHaveLength(events * subscriptions.length);
    expect(new Set(all).size).toBe(all.length);
  };

  beforeEach(() => {
    for (const id of subscriptions) index.put(aSubscription(id));
  });

  it('writes each delivery once when it was killed after a write and before its position was committed', async () => {
    const restore = withAppends(async (writer, records) => {
      await writer.append(records);
      return forEver; // killed before it heard of it
    });
    for (let second = 0; second < 5; second++) publish(eventAt(second));
    await start();
    await until(async () => (await written()).length === 5 * subscriptions.length);
    restore();
    await start();
    const last = publish(eventAt(5));
    await until(async () => (await committed()) === last + 1);
    await expectEachOnce(6);
  });

  it('completes an event that was written to some partitions only', async () => {
    const restore = withAppends(async (writer, records) => {
      await writer.append([...records].filter(({ partition }) => partition < 2));
      return forEver;
    });
    for (let second = 0; second < 5; second++) publish(eventAt(second));
    await start();
    await until(async () => (await written()).length > 0);
    restore();
    await start();
    await until(async () => (await committed()) === 5);
    await expectEachOnce(5);
  });

  it('completes an event with only some deliveries written to a partition', async () => {
    const restore = withAppends(async (writer, records) => {
      await writer.append([...records].slice(0, 7));
      return forEver;
    });
    for (let second = 0; second < 3; second++) publish(eventAt(second));
    await start();
    await until(async () => (await written()).length === 7);
    restore();
    await start();
    await until(async () => (await committed()) === 3);
    await expectEachOnce(3);
  });

  it('finds what was written before the first position was committed, even after two crashes', async () => {
    for (let round = 0; round < 3; round++) {
      const restore = withAppends(async (writer, records) => {
        await writer.append([...records].slice(0, 5));
        return forEver;
      });
      publish(eventAt(round));
      await start();
      await until(async () => (await written()).length >= 5 * (round + 1));
      restore();
    }
    await start();
    await until(async () => (await committed()) === 3);
    await expectEachOnce(3);
  });

  it('finds what was written two crashes ago, even when a new subscription was added in between', async () => {
    publish(eventAt(0));
    await start();
    await until(async () => (await committed()) === 1);
    const restoreFirst = withAppends(async (writer, records) => {
      await writer.append(records);
      return forEver;
    });
    for (let second = 1; second < 6; second++) publish(eventAt(second));
    await start();
    await until(async () => (await written()).length === 6 * subscriptions.length);
    restoreFirst();
    // The next one gets through a part only, writes for the new subscription, and dies too.
    index.put(aSubscription('new'));
    let appends = 0;
    let isWritten = false;
    const restoreSecond = withAppends(async (writer, records) => {
      if (++appends > 1) return forEver;
      const appended = await writer.append(records);
      isWritten = true;
      return appended;
    });
    await start();
    await until(() => isWritten);
    restoreSecond();
    await start();
    const last = publish(eventAt(6));
    await until(async () => (await committed()) === last + 1);
    const all = (await pairs()).filter((pair) => !pair.endsWith(' new'));
    expect(all).toHaveLength(7 * subscriptions.length);
    expect(new Set(await pairs()).size).toBe((await pairs()).length);
  });

  it('refuses the writes of a predecessor that was only paused', async () => {
    let wake: () => void = () => undefined;
    const paused = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let isPaused = false;
    const restore = withAppends(async (writer, records) => {
      isPaused = true;
      await paused;
      return writer.append(records);
    });
    publish(eventAt(0));
    await start();
    await until(() => isPaused);
    restore();
    await start();
    await until(async () => (await committed()) === 1);
    wake();
    await holdsFor(50, () => expectEachOnce(1));
  });

  it('never mistakes a replayed delivery for its original, which has the same event id', async () => {
    publish(eventAt(0));
    await start();
    await until(async () => (await committed()) === 1);
    const [original] = await written();
    if (!original) throw new Error('nothing was written');
    const { partition, ...delivery } = original;
    let isPaused = false;
    const restore = withAppends(() => {
      isPaused = true;
      return forEver;
    });
    publish(eventAt(1));
    await start();
    await until(() => isPaused);
    restore();
    backend.append(
      { topic: topics.webhookDeliveries.name, partition },
      { key: Buffer.from(delivery.subscriptionId), value: codecs.webhookDeliveries.encode({ ...delivery, series: 1 }) },
    );
    await start();
    await until(async () => (await committed()) === 2);
    expect((await written()).filter(({ series }) => series === 0)).toHaveLength(2 * subscriptions.length);
  });
});
