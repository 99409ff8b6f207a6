import { type AvroCodecs, missingTopic, type TopicDefinition, topics } from '@waypost/contracts';
import type { FleetSettings, Geofence, WebhookDelivery, WebhookReplay, WebhookSubscription } from '@waypost/domain';
import type { OutboxKind, OutboxRow } from '@waypost/management-store';
import { type OutgoingRecord, partitionForKey } from '@waypost/streams';

export type OutboxCodecs = Pick<
  AvroCodecs,
  'fleetSettings' | 'fleetGeofences' | 'webhookSubscriptions' | 'webhookReplays' | 'webhookDeliveries'
>;

const TOPIC_OF = {
  'fleet-settings': topics.fleetSettings,
  geofence: topics.fleetGeofences,
  'webhook-subscription': topics.webhookSubscriptions,
  'webhook-replay': topics.webhookReplays,
  'webhook-delivery': topics.webhookDeliveries,
} as const satisfies Readonly<Record<OutboxKind, TopicDefinition>>;

/** The topic of each kind of change. The order of changes is kept per partition. */
export const OUTBOX_TOPICS: Readonly<Record<OutboxKind, string>> = {
  'fleet-settings': TOPIC_OF['fleet-settings'].name,
  geofence: TOPIC_OF.geofence.name,
  'webhook-subscription': TOPIC_OF['webhook-subscription'].name,
  'webhook-replay': TOPIC_OF['webhook-replay'].name,
  'webhook-delivery': TOPIC_OF['webhook-delivery'].name,
};

/** The partitions of the topic of each kind. */
export type PartitionCounts = ReadonlyMap<OutboxKind, number>;

/**
 * Reads the partition counts of the cluster; topics with one partition need no lookup.
 * @throws Error when a topic does not exist yet
 */
export async function readPartitionCounts(
  partitionCount: (topic: string) => Promise<number | null>,
): Promise<PartitionCounts> {
  const counts = new Map<OutboxKind, number>();
  for (const kind of Object.keys(TOPIC_OF) as OutboxKind[]) {
    const { name, partitions } = TOPIC_OF[kind];
    const count = partitions === 1 ? 1 : await partitionCount(name);
    if (count === null) throw new Error(missingTopic(name));
    counts.set(kind, count);
  }
  return counts;
}

/** The partition of a change; the same for every version of a key. */
export function partitionOf(row: Pick<OutboxRow, 'kind' | 'key' | 'partitionKey'>, counts: PartitionCounts): number {
  const count = counts.get(row.kind);
  if (count === undefined) throw new Error(`The partitions of ${OUTBOX_TOPICS[row.kind]} have not been read.`);
  return partitionForKey(Buffer.from(row.partitionKey ?? row.key), count);
}

/** The record that publishes a change. Throws when the stored value breaks the schema, which is a bug. */
export function toRecord(row: OutboxRow, codecs: OutboxCodecs, counts: PartitionCounts): OutgoingRecord {
  const value = row.value === null ? null : encode(row.kind, row.value, codecs);
  return { topic: OUTBOX_TOPICS[row.kind], partition: partitionOf(row, counts), key: Buffer.from(row.key), value };
}

/** What rows of an earlier version lack. */
const LATER_FIELDS = { description: null, metadata: {}, headers: [], clientCertificate: null };
const LATER_SETTINGS = { name: null, routes: false };

function encode(kind: OutboxKind, value: object, codecs: OutboxCodecs): Buffer {
  switch (kind) {
    case 'fleet-settings':
      return codecs.fleetSettings.encode({ ...LATER_SETTINGS, ...value } as FleetSettings);
    case 'geofence':
      return codecs.fleetGeofences.encode(value as Geofence);
    case 'webhook-subscription':
      return codecs.webhookSubscriptions.encode({ ...LATER_FIELDS, ...(value as WebhookSubscription) });
    case 'webhook-replay':
      return codecs.webhookReplays.encode(value as WebhookReplay);
    case 'webhook-delivery':
      return codecs.webhookDeliveries.encode(value as WebhookDelivery);
  }
}
