import type { WebhookDelivery } from '@waypost/domain';
import type { OutboxKind, OutboxRow } from '@waypost/management-store';

/** What a topic says of a thing: its newest version, that it has been deleted, or that it is there, having no versions. */
export type PublishedVersion =
  { readonly type: 'version'; readonly version: number } | { readonly type: 'deleted' } | { readonly type: 'once' };

/** By `publishedName`; a thing that the topic does not know is absent. */
export type PublishedVersions = ReadonlyMap<string, PublishedVersion>;

export function publishedKey(kind: OutboxKind, key: string): string {
  return `${kind}/${key}`;
}

/** A delivery is known by its event: its key is that of all deliveries of the subscription. */
export function publishedName({ kind, key, value }: Pick<OutboxRow, 'kind' | 'key' | 'value'>): string {
  return publishedKey(kind, kind === 'webhook-delivery' ? (value as WebhookDelivery).eventId : key);
}

/** Keys are never used again after a deletion, so nothing follows one. */
export function isAlreadyPublished(row: OutboxRow, versions: PublishedVersions): boolean {
  const found = versions.get(publishedName(row));
  if (found === undefined) return false;
  if (found.type !== 'version') return true;
  return row.value !== null && versionOf(row.value) <= found.version;
}

export function versionOf(value: object): number {
  const { version } = value as { version?: unknown };
  if (typeof version === 'number') return version;
  throw new Error('A published record has no version: every kind in the outbox counts its changes');
}
