import { randomUUID } from 'node:crypto';
import { formatApiKey, hashApiKey } from '@waypost/domain';
import { type EntityManager, IsNull } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { FleetEntity } from './fleet.entity.js';
import type { ListPosition } from './list-position.js';

/** Everything that a key can be allowed to do. */
export const API_KEY_SCOPES = [
  'events:read',
  'paths:read',
  'subscriptions:read',
  'subscriptions:write',
  'geofences:read',
  'geofences:write',
  'fleet:read',
  'fleet:write',
  'keys:read',
  'keys:write',
] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

export interface ApiKeyRecord {
  readonly id: string;
  readonly fleetId: string;
  readonly hash: Buffer;
  readonly scopes: readonly string[];
}

/** What may be shown of a key after its creation. */
export interface StoredApiKey {
  readonly id: string;
  readonly fleetId: string;
  readonly name: string | null;
  /** The first characters of the key; null of a key of an earlier version. */
  readonly prefix: string | null;
  readonly scopes: readonly string[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; null: it is live. */
  readonly revokedAt: number | null;
}

export type CreateApiKeyResult =
  | {
      readonly type: 'created';
      readonly id: string;
      /** Shown once, never stored. */
      readonly key: string;
      readonly stored: StoredApiKey;
    }
  | { readonly type: 'fleet_not_found' };

export type RevokeApiKeyResult = { readonly type: 'revoked' } | { readonly type: 'not_found' };

/** API keys of fleets; only their SHA-256 is kept. */
export interface ApiKeyStore {
  createApiKey(input: {
    fleetId: string;
    scopes: readonly ApiKeyScope[];
    nowMs: number;
    name?: string | null;
  }): Promise<CreateApiKeyResult>;
  /** The live key with this SHA-256, or null. */
  findApiKey(hash: Buffer): Promise<ApiKeyRecord | null>;
  /** Oldest first, revoked ones too. */
  listApiKeys(query: { fleetId: string; limit: number; after: ListPosition | null }): Promise<readonly StoredApiKey[]>;
  /** For good. Again, it changes nothing. */
  revokeApiKey(ref: { fleetId: string; id: string }, nowMs: number): Promise<RevokeApiKeyResult>;
}

export interface ApiKeyStoreDeps {
  readonly database: EntityManager;
  readonly randomBytes: (size: number) => Buffer;
}

/** `wp_` and 6 of 43 characters: enough to tell one's keys apart, and nothing to guess the rest by. */
const PREFIX_LENGTH = 9;

export function createApiKeyStore({ database, randomBytes }: ApiKeyStoreDeps): ApiKeyStore {
  return {
    async createApiKey({ fleetId, scopes, nowMs, name = null }) {
      if ((await database.findOneBy(FleetEntity, { fleetId })) === null) return { type: 'fleet_not_found' };
      const key = formatApiKey(randomBytes(32));
      const stored = {
        id: randomUUID(),
        fleetId,
        name,
        prefix: key.slice(0, PREFIX_LENGTH),
        scopes: [...scopes],
        createdAt: nowMs,
        revokedAt: null,
      };
      await database.insert(ApiKeyEntity, { ...stored, hash: hashApiKey(key) });
      return { type: 'created', id: stored.id, key, stored };
    },
    async findApiKey(hash) {
      const found = await database.findOneBy(ApiKeyEntity, { hash, revokedAt: IsNull() });
      return found && { id: found.id, fleetId: found.fleetId, hash: found.hash, scopes: found.scopes };
    },
    listApiKeys: async (query) => (await listKeys(database, query)).map(({ hash: _, ...shown }) => shown),
    async revokeApiKey({ fleetId, id }, nowMs) {
      if ((await database.findOneBy(ApiKeyEntity, { fleetId, id })) === null) return { type: 'not_found' };
      await database.update(ApiKeyEntity, { id, revokedAt: IsNull() }, { revokedAt: nowMs });
      return { type: 'revoked' };
    },
  };
}

function listKeys(
  database: EntityManager,
  { fleetId, limit, after }: { fleetId: string; limit: number; after: ListPosition | null },
): Promise<ApiKeyEntity[]> {
  const select = database
    .createQueryBuilder(ApiKeyEntity, 'k')
    .where('k.fleet_id = :fleetId', { fleetId })
    .orderBy('k.created_at')
    .addOrderBy('k.id')
    .limit(limit);
  if (after !== null) {
    const { createdAt, id } = after;
    select.andWhere('(k.created_at, k.id) > (:createdAt, :id)', { createdAt: new Date(createdAt), id });
  }
  return select.getMany();
}
