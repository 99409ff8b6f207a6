import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createAvroCodecs, republishedHeader, topics } from '@waypost/contracts';
import { type RecordHeader, silentLogger, StreamRecord } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { Quarantine } from './quarantine.js';

const REJECTED = topics.telemetryRejected.name;
const SOURCE = { topic: topics.telemetryPings.name, partition: 3 };

describe('the quarantine (R-2, R-45)', () => {
  it('writes under an id of the application and the partition: readers of one topic do not fence each other', async () => {
    const broker = createMemoryBackend({ topics: { [REJECTED]: 4 }, now: () => 0 });
    const ids: string[] = [];
    const backend = {
      producer: (transactionalId: string) => {
        ids.push(transactionalId);
        return broker.producer(transactionalId);
      },
    };
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const record = StreamRecord.of({ offset: 7, timestamp: 0, key: null, value: Buffer.from('junk') });
    for (const application of ['telemetry-processor', 'history-projector']) {
      const quarantine = new Quarantine(backend, codecs, silentLogger, new Registry(), application);
      await quarantine.put(SOURCE, [{ record, reason: 'malformed', detail: 'junk' }]);
    }
    expect(ids).toEqual([
      'quarantine.telemetry-processor.telemetry.pings.3',
      'quarantine.history-projector.telemetry.pings.3',
    ]);
    expect(await broker.endOffset({ topic: REJECTED, partition: 3 })).toBeGreaterThanOrEqual(2);
  });

  it('says of a copy that was published again what its original is', async () => {
    const broker = createMemoryBackend({ topics: { [REJECTED]: 4 }, now: () => 0 });
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const quarantine = new Quarantine(broker, codecs, silentLogger, new Registry(), 'history-projector');
    const original = { offset: 7, timestamp: 0, key: null, value: Buffer.from('junk') };
    const header = republishedHeader(original);
    const copy = { ...original, offset: 9, headers: [{ key: 'other', value: null }, header] };
    const rejection = { reason: 'malformed', detail: 'junk' };
    await quarantine.put(
      SOURCE,
      [original, copy].map((parts) => ({ record: StreamRecord.of(parts), ...rejection })),
    );

    const found: (readonly RecordHeader[] | undefined)[] = [];
    await readToEnd(broker, broker.fetcher(), { topic: REJECTED, partition: 3 }, 0, ({ records }) => {
      found.push(...records.map(({ headers }) => headers));
    });
    expect(found).toEqual([[], [header]]);
  });
});
