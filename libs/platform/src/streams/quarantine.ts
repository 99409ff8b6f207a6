import { Inject, Injectable, Module } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import {
  type AvroCodecs,
  readValue,
  rejectedRecord,
  type Rejection,
  rejectionHeaders,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type { StreamRecord, StreamsBackend, StreamsLogger, TopicPartition } from '@waypost/streams';
import { CODECS } from '../contracts/contracts.module.js';
import { APP_NAME, LOGGER } from '../runtime/runtime.module.js';
import { KafkaModule, STREAMS_BACKEND } from './kafka.module.js';

export interface UnusableRecord extends Rejection {
  readonly record: StreamRecord;
}

/**
 * Takes unusable records, so that one of them never ends a process. Each topic has one reader that
 * quarantines; its other readers skip what they cannot read. After a crash a record may be quarantined again: "waypost
 * rejected" shows it once.
 */
@Injectable()
export class Quarantine {
  private readonly counter: Counter;

  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'producer'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'telemetryRejected'>,
    @Inject(LOGGER) private readonly logger: Pick<StreamsLogger, 'error'>,
    metrics: Registry,
    @Inject(APP_NAME) private readonly application: string,
  ) {
    this.counter = new Counter({
      name: 'waypost_records_rejected_total',
      help: 'Unusable records that went to telemetry.rejected, by topic and reason.',
      labelNames: ['topic', 'reason'],
      registers: [metrics],
    });
  }

  /**
   * Resolves when the records are in telemetry.rejected with their bytes, their origin and the reason; only then may
   * the position of their partition pass them. Rejects while they cannot be written.
   */
  async put(source: TopicPartition, unusable: readonly UnusableRecord[]): Promise<void> {
    if (unusable.length === 0) return;
    const { topic, partition } = source;
    await this.codecs.telemetryRejected.prepare();
    const records = unusable.map((one) => ({
      topic: topics.telemetryRejected.name,
      partition,
      key: one.record.key,
      value: this.codecs.telemetryRejected.encode(rejectedRecord(source, one.record, one)),
      headers: rejectionHeaders(one.record.headers),
    }));
    // Too rare to keep a connection. Processes that follow the same table fence each other and retry.
    const producer = this.backend.producer(`quarantine.${this.application}.${topic}.${String(partition)}`);
    try {
      await producer.init();
      await producer.commit({ records });
    } finally {
      await producer.close();
    }
    for (const { record, reason, detail } of unusable) {
      this.counter.inc({ topic, reason });
      this.logger.error('record_rejected', { topic, partition, offset: record.offset, reason, detail });
    }
  }
}

/** Import it once per application. */
@Module({ imports: [KafkaModule], providers: [Quarantine], exports: [Quarantine] })
export class QuarantineModule {}

/** Decodes the batches of a table that every instance follows; unreadable records are quarantined. */
export class VersionReader<T> {
  /** Versions of the current batch, by offset. */
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
