import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  createAvroCodecs,
  topics,
  type AvroCodecs,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/contracts';
import { createTopologyTestDriver, partitionForKey, type TopologyTestDriver } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { eventOf, subscriptionOf } from '../../../../test/support/samples.js';
import { createSubscriptionIndex } from '../subscriptions/subscription-directory.js';
import { fanOutTopology } from './fan-out.topology.js';

let codecs: AvroCodecs;
let index: ReturnType<typeof createSubscriptionIndex>;
let caughtUp: number;
let driver: TopologyTestDriver;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  await codecs.webhookDeliveries.resolve([1, 2, 3, 4, 5, 6, 7, 8]);
  index = createSubscriptionIndex();
  caughtUp = 0;
  const idle = () => Promise.resolve();
  const directory = {
    ...index,
    start: idle,
    stop: idle,
    caughtUp: () => {
      caughtUp++;
      return idle();
    },
  };
  const metrics = {
    deliveryCreated: () => undefined,
    attemptEnded: () => undefined,
    pendingChanged: () => undefined,
    parkedChanged: () => undefined,
    suspendedChanged: () => undefined,
  };
  driver = createTopologyTestDriver({
    topology: fanOutTopology({ codecs, directory, metrics }),
    partitionCounts: { [topics.webhookDeliveries.name]: 4 },
    startAt: 5_000,
  });
});

const aSubscription = (id: string, more: Partial<WebhookSubscription> = {}): WebhookSubscription =>
  subscriptionOf({ id, ...more });

const event = eventOf({ eventTime: Date.UTC(2026, 0, 1), latitude: 1, longitude: 2, speedInKmh: 0, ignition: false });

const fanOut = async (): Promise<(WebhookDelivery & { partition: number })[]> => {
  const output = await driver.pipe({ key: Buffer.from('device-1'), value: codecs.fleetEvents.encode(event) });
  return output.map(({ value, partition }) => {
    const decoded = codecs.webhookDeliveries.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') throw new Error(decoded.type);
    return { ...decoded.value, partition };
  });
};

describe('the fan-out', () => {
  it('makes one delivery for each active subscription of the fleet, type and device, and no other', async () => {
    index.put(aSubscription('all devices'));
    index.put(aSubscription('this device', { deviceIds: ['device-1'] }));
    index.put(aSubscription('another device', { deviceIds: ['device-2'] }));
    index.put(aSubscription('paused', { status: 'paused' }));
    index.put(aSubscription('another type', { eventType: 'ignition_on' }));
    index.put(aSubscription('another fleet', { fleetId: 'fleet-2' }));
    expect((await fanOut()).map(({ subscriptionId }) => subscriptionId)).toEqual(['all devices', 'this device']);
  });

  it('freezes the body with what is known and nothing made up (R-13, R-15)', async () => {
    index.put(aSubscription('s'));
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
    expect(delivery).toMatchObject({ createdAt: 5_000, series: 0, replayId: null });
  });

  it('puts a delivery on the partition of its subscription', async () => {
    for (let i = 0; i < 20; i++) index.put(aSubscription(`s${String(i)}`));
    for (const { subscriptionId, partition } of await fanOut()) {
      expect(partition).toBe(partitionForKey(Buffer.from(subscriptionId), 4));
    }
  });

  it('reads the subscriptions to their end before an event, so that one acknowledged earlier is served', async () => {
    await fanOut();
    expect(caughtUp).toBe(1);
  });

  it('follows changes: a newer version counts, an older one that is published again does not, a deleted one is gone', async () => {
    index.put(aSubscription('s', { version: 2, status: 'paused' }));
    index.put(aSubscription('s', { version: 1 }));
    expect(await fanOut()).toEqual([]);
    index.put(aSubscription('s', { version: 3 }));
    expect(await fanOut()).toHaveLength(1);
    index.remove('s');
    expect(await fanOut()).toEqual([]);
  });
});
