import type { FactoryProvider } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import {
  type AvroCodecs,
  readValue,
  rejectedRecord,
  type Rejection,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type { StreamRecord, StreamsBackend, StreamsLogger, TopicPartition } from '@waypost/streams';
import { LOGGER } from '../runtime/runtime.module.js';
import { STREAMS_BACKEND } from './streams.module.js';

export interface UnusableRecord extends Rejection {
  readonly record: StreamRecord;
}

export interface QuarantineOptions {
  readonly backend: Pick<StreamsBackend, 'producer'>;
  readonly codecs: Pick<AvroCodecs, 'telemetryRejected'>;
  readonly metrics: Registry;
  readonly logger: Pick<StreamsLogger, 'error'>;
}

/**
 * Takes records that cannot be used, so that one of them never ends a process. Each topic has one reader that
 * calls it; other readers of the topic skip what they cannot read. After a crash a record may be taken again: "waypost
 * rejected" shows it once.
 */
export class Quarantine {
  private readonly counter: Counter;

  constructor(private readonly options: QuarantineOptions) {
    this.counter = new Counter({
      name: 'waypost_records_rejected_total',
      help: 'Records that could not be used and went to telemetry.rejected, by their topic and the reason.',
      labelNames: ['topic', 'reason'],
      registers: [options.metrics],
    });
  }

  /**
   * Resolves when the records are in telemetry.rejected with their bytes, their origin and the reason; only then may the
   * position of their partition pass them. Rejects while they cannot be written.
   */
  async put(source: TopicPartition, unusable: readonly UnusableRecord[]): Promise<void> {
    if (unusable.length === 0) return;
    const { topic, partition } = source;
    const records = unusable.map((one) => ({
      ...{ topic: topics.telemetryRejected.name, partition, key: one.record.key },
      value: this.options.codecs.telemetryRejected.encode(rejectedRecord(source, one.record, one)),
    }));
    // Rare: no connection is kept for it. The id belongs to the partition's only reader.
    const producer = this.options.backend.producer(`quarantine.${topic}.${String(partition)}`);
    try {
      await producer.init();
      await producer.commit({ records });
    } finally {
      await producer.close();
    }
    for (const { record, reason, detail } of unusable) {
      this.counter.inc({ topic, reason });
      this.options.logger.error('record_rejected', { topic, partition, offset: record.offset, reason, detail });
    }
  }
}

/** @param codecs the token of the codecs; telemetryRejected must be prepared */
export function quarantineProvider(codecs: symbol): FactoryProvider<Quarantine> {
  return {
    provide: Quarantine,
    inject: [STREAMS_BACKEND, codecs, Registry, LOGGER],
    useFactory: (backend: StreamsBackend, ofTopics: AvroCodecs, metrics: Registry, logger: StreamsLogger) =>
      new Quarantine({ backend, codecs: ofTopics, metrics, logger }),
  };
}

/** Decodes the batches of a table that every instance follows; what cannot be read is quarantined. */
export class VersionReader<T> {
  /** Of the batch that is being applied, by offset. */
  private versions = new Map<number, T>();

  constructor(
    private readonly topic: string,
    private readonly codec: SubjectCodec<T>,
    private readonly quarantine: Pick<Quarantine, 'put'>,
  ) {}

  readonly prepare = async (records: readonly StreamRecord[]): Promise<void> => {
    await resolveBatch(this.codec, records);
    const versions = new Map<number, T>();
    const unusable: UnusableRecord[] = [];
    for (const record of records) {
      if (record.value === null) continue;
      const version = readValue(this.codec, record.value);
      if (version.type === 'value') versions.set(record.offset, version.value);
      else unusable.push({ record, ...version });
    }
    await this.quarantine.put({ topic: this.topic, partition: 0 }, unusable);
    this.versions = versions;
  };

  /** null: a tombstone; undefined: it cannot be read. */
  versionOf({ offset, value }: StreamRecord): T | null | undefined {
    return value === null ? null : this.versions.get(offset);
  }
}
