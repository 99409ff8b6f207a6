import { type DecodeResult, resolveBatch, schemaIdOf, type SubjectCodec } from '@waypost/contracts';
import { CLOCK_TOLERANCE_MS, type WebhookDelivery } from '@waypost/domain';
import type { OutboxKind, OutboxRow } from '@waypost/management-store';
import type { RecordBatch, StreamsBackend } from '@waypost/streams';
import { type Fetcher, readToEnd } from '@waypost/streams/admin';
import { OUTBOX_TOPICS, type OutboxCodecs, type PartitionCounts, partitionOf } from './outbox-record.js';

/** What a topic holds for a key: its newest version, a deletion, or, for records without versions, that it is there. */
export type PublishedVersion =
  | { readonly type: 'version'; readonly version: number; readonly createdAt?: number | undefined }
  | { readonly type: 'deleted' }
  | { readonly type: 'once' };

/** Versions by `publishedName`; what the topic does not hold is absent. */
export type PublishedVersions = ReadonlyMap<string, PublishedVersion>;

function publishedKey(kind: OutboxKind, key: string): string {
  return `${kind}/${key}`;
}

/** A delivery is known by its event: its key is that of all deliveries of the subscription. */
function publishedName({ kind, key, value }: Pick<OutboxRow, 'kind' | 'key' | 'value'>): string {
  return publishedKey(kind, kind === 'webhook-delivery' ? (value as WebhookDelivery).eventId : key);
}

/**
 * Keys are never used again after a deletion, so nothing follows one. Only a fleet may be created again under its id, after
 * its database was lost, and then begins at version 1.
 */
export function isAlreadyPublished(row: OutboxRow, versions: PublishedVersions): boolean {
  const found = versions.get(publishedName(row));
  if (found === undefined) return false;
  if (found.type !== 'version') return true;
  if (row.value === null) return false;
  const isSame = row.kind !== 'fleet-settings' || found.createdAt === createdAtOf(row.value);
  return isSame && versionOf(row.value) <= found.version;
}

function createdAtOf(value: object): number | undefined {
  return (value as { createdAt?: number }).createdAt;
}

function versionOf(value: object): number {
  const { version } = value as { version?: unknown };
  if (typeof version === 'number') return version;
  throw new Error('A published record has no version: every kind in the outbox counts its changes');
}

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
 * Reads what the topics of these rows hold already. Most are compacted and small: they are read whole. Deliveries are
 * searched among those of about the same time.
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
  // An unreadable record cannot be assumed to be newer: version 0 is older than every change.
  if (decoded.type !== 'decoded') return { type: 'version', version: 0 };
  return { type: 'version', version: versionOf(decoded.value), createdAt: createdAtOf(decoded.value) };
}

interface PublishedDeliveriesDeps {
  readonly backend: StreamsBackend;
  readonly fetcher: Fetcher;
  readonly codec: SubjectCodec<WebhookDelivery>;
  readonly counts: PartitionCounts;
}

/**
 * Which of these deliveries are in the log. It is far too long to read whole, but none of them can be older than its
 * row, so reading starts at that time; and only the records of these subscriptions are decoded.
 */
async function readPublishedDeliveries(
  deps: PublishedDeliveriesDeps,
  rows: readonly OutboxRow[],
): Promise<Map<string, PublishedVersion>> {
  const { backend, fetcher, codec, counts } = deps;
  const found = new Map<string, PublishedVersion>();
  for (const number of new Set(rows.map((row) => partitionOf(row, counts)))) {
    const waiting = rows.filter((row) => partitionOf(row, counts) === number);
    const partition = { topic: OUTBOX_TOPICS['webhook-delivery'], partition: number };
    const madeAt = Math.min(...waiting.map((row) => (row.value as WebhookDelivery).createdAt));
    const from = await backend.offsetAt(partition, madeAt - CLOCK_TOLERANCE_MS.apiAndBroker);
    if (from === null) continue;
    const subscriptions = new Set(waiting.map((row) => row.key));
    await readToEnd(backend, fetcher, partition, from, async ({ records }) => {
      const candidates = [...records].filter((record) => subscriptions.has(record.key?.toString() ?? ''));
      await resolveBatch(codec, candidates);
      for (const { value } of candidates) {
        const decoded = value === null ? null : codec.decode(value);
        if (decoded?.type === 'decoded') found.set(nameOf(decoded.value), { type: 'once' });
      }
    });
  }
  return found;
}

function nameOf({ eventId }: WebhookDelivery): string {
  return publishedKey('webhook-delivery', eventId);
}
