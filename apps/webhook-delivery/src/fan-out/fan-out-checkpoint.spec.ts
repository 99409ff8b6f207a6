import { describe, expect, it } from '@jest/globals';
import { createAvroCodecs, topics, type WebhookDelivery } from '@waypost/contracts';
import { createMemoryBackend } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { aDelivery } from '../sender/testing/sender-harness.js';
import { checkpointMetadata, findLostPosition, outputsOf } from './fan-out-checkpoint.js';

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
    return findLostPosition({ backend, codecs, now: () => NOW }, { ...log, committed: null, outputs: 2 });
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
    expect(await lost({})).toContain('is gone, although deliveries were made before');
  });
});
