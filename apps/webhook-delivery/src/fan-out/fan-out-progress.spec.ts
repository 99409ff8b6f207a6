import { expect, it } from '@jest/globals';
import { createAvroCodecs, eventHeader, topics } from '@waypost/contracts';
import { silentLogger, type TaskContext } from '@waypost/streams';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { aDelivery } from '../sender/testing/sender-samples.js';
import { FanOutProgress } from './fan-out-progress.js';

const EVENTS = { topic: topics.fleetEvents.name, partition: 0 };
const DELIVERIES = { topic: topics.webhookDeliveries.name, partition: 0 };
const NOTHING = new Map<string, number>();

it('remembers what a predecessor has written until its last event is passed, also while no event arrives (R-25)', async () => {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookDeliveries.prepare();
  const backend = createMemoryBackend({ topics: { [EVENTS.topic]: 1, [DELIVERIES.topic]: 1 }, now: Date.now });
  for (let n = 0; n < 3; n++) backend.append(EVENTS, { key: null, value: null });
  const delivery = aDelivery(1);
  const headers = [eventHeader({ partition: 0, offset: 1 })];
  backend.append(DELIVERIES, { key: null, value: codecs.webhookDeliveries.encode(delivery), headers });
  const committedOffset = () => Promise.resolve({ offset: 0, metadata: '0' });
  const clocks = { nowMs: Date.now, monotonicMs: () => performance.now() };
  const context = { ...EVENTS, committedOffset } as unknown as TaskContext;
  const progress = new FanOutProgress(context, { backend, codecs, logger: silentLogger, ...clocks });

  await progress.recover(1);
  await progress.raiseOutputs(0);
  expect(progress.hasWritten(delivery.eventId)).toBe(true);
  expect(progress.checkpoint()).toEqual({ offset: 0, metadata: '0' });

  progress.wrote(2, NOTHING, 2);
  expect(progress.hasWritten(delivery.eventId)).toBe(false);
  expect(progress.checkpoint()).toEqual({ offset: 2, metadata: '1' });
});
