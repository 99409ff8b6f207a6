import type { AvroCodecs } from '@waypost/contracts';
import { openOutboxSession } from '@waypost/management-store';
import type { StreamsBackend, StreamsLogger } from '@waypost/streams';
import { createOutboxPublisher, type OutboxPublisher } from './outbox-publisher.js';
import { type PartitionCounts, readPartitionCounts, toRecord } from './outbox-record.js';
import { createPublishedVersionsReader } from './published-versions.js';

export interface OutboxSettings {
  readonly databaseUrl: string;
  readonly codecs: AvroCodecs;
  readonly backend: StreamsBackend;
  readonly logger: StreamsLogger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** How often to look for changes that were not announced. Default 500. */
  readonly pollMs?: number;
}

/** One for all processes: the newest producer fences the one before. */
const TRANSACTIONAL_ID = 'public-api.outbox';

/** The publisher on PostgreSQL and Kafka. It connects when it runs, and again whenever it must: it cannot fail at boot. */
export function createOutbox(settings: OutboxSettings): OutboxPublisher {
  const { databaseUrl, codecs, backend, logger, nowMs, monotonicMs, pollMs } = settings;
  let counts: PartitionCounts = new Map();
  return createOutboxPublisher({
    openSession: (listeners) => openOutboxSession({ databaseUrl, ...listeners }),
    createProducer: () => backend.producer(TRANSACTIONAL_ID),
    encode: (row) => toRecord(row, codecs, counts),
    prepare: async () => {
      const { fleetSettings, fleetGeofences, webhookSubscriptions, webhookReplays, webhookDeliveries } = codecs;
      const writing = [fleetSettings, fleetGeofences, webhookSubscriptions, webhookReplays, webhookDeliveries];
      await Promise.all(writing.map((codec) => codec.prepare()));
      counts = await readPartitionCounts((topic) => backend.partitionCount(topic));
    },
    readPublishedVersions: createPublishedVersionsReader({ backend, codecs, counts: () => counts }),
    logger,
    nowMs,
    monotonicMs,
    ...(pollMs === undefined ? {} : { pollMs }),
  });
}
