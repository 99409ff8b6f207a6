import { type DecodeResult, schemaIdOf } from '@waypost/contracts';
import type { OutboxKind, OutboxRow } from '@waypost/history-store';
import { readToEnd, type RecordBatch, type StreamsBackend } from '@waypost/streams';
import { OUTBOX_TOPICS, type OutboxCodecs } from './outbox-record.js';
import { publishedKey, type PublishedVersion, type PublishedVersions, versionOf } from './published-versions.js';

interface ReaderDeps {
  readonly backend: StreamsBackend;
  readonly codecs: OutboxCodecs;
}

interface ValueReader {
  resolve(ids: Iterable<number>): Promise<void>;
  decode(value: Buffer): DecodeResult<object>;
}

/** Reads the topics of these rows to their end, which is short: they are compacted and hold what people manage. */
export function createPublishedVersionsReader({ backend, codecs }: ReaderDeps) {
  const readers: Readonly<Record<OutboxKind, ValueReader>> = {
    'fleet-settings': codecs.fleetSettings,
    'webhook-subscription': codecs.webhookSubscriptions,
  };

  return async (rows: readonly OutboxRow[]): Promise<PublishedVersions> => {
    const wanted = new Set(rows.map((row) => publishedKey(row.kind, row.key)));
    const found = new Map<string, PublishedVersion>();
    const fetcher = backend.fetcher();
    try {
      for (const kind of new Set(rows.map((row) => row.kind))) {
        const take = async (batch: RecordBatch): Promise<void> => {
          for (const { key, value } of batch.records) {
            const name = publishedKey(kind, key?.toString() ?? '');
            if (wanted.has(name)) found.set(name, await versionIn(readers[kind], value));
          }
        };
        await readToEnd(backend, fetcher, { topic: OUTBOX_TOPICS[kind], partition: 0 }, 0, take);
      }
    } finally {
      await fetcher.close();
    }
    return found;
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
