import type { OutboxKind, OutboxRow } from '@waypost/history-store';

/** What a topic says of a key: its newest version, or that it has been deleted. */
export type PublishedVersion = { readonly type: 'version'; readonly version: number } | { readonly type: 'deleted' };

/** By `publishedKey`; a key that the topic does not know is absent. */
export type PublishedVersions = ReadonlyMap<string, PublishedVersion>;

export function publishedKey(kind: OutboxKind, key: string): string {
  return `${kind}/${key}`;
}

/** Keys are never used again after a deletion, so nothing follows one. */
export function isAlreadyPublished(row: OutboxRow, versions: PublishedVersions): boolean {
  const found = versions.get(publishedKey(row.kind, row.key));
  if (found === undefined) return false;
  if (found.type === 'deleted') return true;
  return row.value !== null && versionOf(row.value) <= found.version;
}

export function versionOf(value: object): number {
  const { version } = value as { version?: unknown };
  if (typeof version === 'number') return version;
  throw new Error('A published record has no version: every kind in the outbox counts its changes');
}
