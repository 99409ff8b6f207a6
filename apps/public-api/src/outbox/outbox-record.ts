import { type AvroCodecs, type FleetSettings, topics, type WebhookSubscription } from '@waypost/contracts';
import type { OutboxKind, OutboxRow } from '@waypost/history-store';
import type { OutgoingRecord } from '@waypost/streams';

export type OutboxCodecs = Pick<AvroCodecs, 'fleetSettings' | 'webhookSubscriptions'>;

/** The topic of each kind of change. Both have one partition: all changes are in one order. */
export const OUTBOX_TOPICS: Readonly<Record<OutboxKind, string>> = {
  'fleet-settings': topics.fleetSettings.name,
  'webhook-subscription': topics.webhookSubscriptions.name,
};

/** The record that publishes a change. Throws when the stored value breaks the schema, which is a bug. */
export function toRecord(row: OutboxRow, codecs: OutboxCodecs): OutgoingRecord {
  const value = row.value === null ? null : encode(row.kind, row.value, codecs);
  return { topic: OUTBOX_TOPICS[row.kind], partition: 0, key: Buffer.from(row.key), value };
}

function encode(kind: OutboxKind, value: object, codecs: OutboxCodecs): Buffer {
  switch (kind) {
    case 'fleet-settings':
      return codecs.fleetSettings.encode(value as FleetSettings);
    case 'webhook-subscription':
      return codecs.webhookSubscriptions.encode(value as WebhookSubscription);
  }
}
