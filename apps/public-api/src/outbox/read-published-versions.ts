import { type DecodeResult, schemaIdOf } from '@waypost/contracts';
import type { OutboxKind, OutboxRow } from '@waypost/management-store';
import { type Fetcher, readToEnd, type RecordBatch, type StreamsBackend } from '@waypost/streams';
import { OUTBOX_TOPICS, type OutboxCodecs, type PartitionCounts, partitionOf } from './outbox-record.js';
import { publishedKey, type PublishedVersion, type PublishedVersions, versionOf } from './published-versions.js';
import { readPublishedDeliveries } from './read-published-deliveries.js';

interface ReaderDeps {
  readonly backend: StreamsBackend;
  readonly codecs: OutboxCodecs;
  readonly counts: () => PartitionCounts;
}

interface ValueReader {
  resolve(ids: Iterable<number>): Promise<void>;
  decode(value: Buffer): DecodeResult<object>;
}

type VersionedKind = Exclude<OutboxKind, 'webhook-delivery'>;

/**
 * Asks the topics of these rows what they hold already. Most are compacted and hold what people manage: they are read
 * whole. Deliveries are looked for among those of about the same time.
 */
export function createPublishedVersionsReader({ backend, codecs, counts }: ReaderDeps) {
  const readers: Readonly<Record<VersionedKind, ValueReader>> = {
    'fleet-settings': codecs.fleetSettings,
    geofence: codecs.fleetGeofences,
    'webhook-subscription': codecs.webhookSubscriptions,
    'webhook-replay': codecs.webhookReplays,
  };

  async function readVersions(fetcher: Fetcher, kind: VersionedKind, rows: readonly OutboxRow[]) {
    const wanted = new Set(rows.map((row) => row.key));
    const found = new Map<string, PublishedVersion>();
    const take = async (batch: RecordBatch): Promise<void> => {
      for (const { key, value } of batch.records) {
        const name = key?.toString() ?? '';
        if (wanted.has(name)) found.set(publishedKey(kind, name), await versionIn(readers[kind], value));
      }
    };
    for (const partition of new Set(rows.map((row) => partitionOf(row, counts())))) {
      await readToEnd(backend, fetcher, { topic: OUTBOX_TOPICS[kind], partition }, 0, take);
    }
    return found;
  }

  return async (rows: readonly OutboxRow[]): Promise<PublishedVersions> => {
    const found: (readonly [string, PublishedVersion])[] = [];
    const fetcher = backend.fetcher();
    try {
      for (const kind of new Set(rows.map((row) => row.kind))) {
        const ofKind = rows.filter((row) => row.kind === kind);
        if (kind === 'webhook-delivery') {
          const codec = codecs.webhookDeliveries;
          found.push(...(await readPublishedDeliveries({ backend, fetcher, codec, counts: counts() }, ofKind)));
        } else found.push(...(await readVersions(fetcher, kind, ofKind)));
      }
    } finally {
      await fetcher.close();
    }
    return new Map(found);
  };
}

async function versionIn(reader: ValueReader, value: Buffer | null): Promise<PublishedVersion> {
  if (value === null) return { type: 'deleted' };
  const id = schemaIdOf(value);
  if (id !== null) await reader.resolve([id]);
  const decoded = reader.decode(value);
  // What cannot be read cannot be trusted to be newer: version 0 is older than every change.
  return { type: 'version', version: decoded.type === 'decoded' ? versionOf(decoded.value) : 0 };
}
