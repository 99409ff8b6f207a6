import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createAvroCodecs, topics } from '@waypost/contracts';
import { silentLogger } from '@waypost/streams';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { Quarantine } from './quarantine.js';

const SOURCE = { topic: topics.telemetryPings.name, partition: 3 };

describe('the quarantine (R-2, R-45)', () => {
  it('writes under an id of the application and the partition: readers of one topic do not fence each other', async () => {
    const broker = createMemoryBackend({ topics: { [topics.telemetryRejected.name]: 4 }, now: () => 0 });
    const ids: string[] = [];
    const backend = {
      producer: (transactionalId: string) => {
        ids.push(transactionalId);
        return broker.producer(transactionalId);
      },
    };
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const record = { offset: 7, timestamp: 0, key: null, value: Buffer.from('junk') };
    for (const application of ['telemetry-processor', 'history-projector']) {
      const quarantine = new Quarantine(backend, codecs, silentLogger, new Registry(), application);
      await quarantine.put(SOURCE, [{ record, reason: 'malformed', detail: 'junk' }]);
    }
    expect(ids).toEqual([
      'quarantine.telemetry-processor.telemetry.pings.3',
      'quarantine.history-projector.telemetry.pings.3',
    ]);
    expect(await broker.endOffset({ topic: topics.telemetryRejected.name, partition: 3 })).toBeGreaterThanOrEqual(2);
  });
});
