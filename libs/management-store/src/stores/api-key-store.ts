import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, type Repository } from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { formatApiKey, hashApiKey } from '@waypost/domain';
import { ApiKeyEntity, PortalSessionEntity } from '../entities.js';
import { type FleetLimits, type LimitReached, limitReached, NO_LIMITS } from './fleet-limits.js';
import { lockFleet } from './fleet-store.js';
import { type Listed, listPage, type ListQuery } from './list-page.js';

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
  'portal:read',
  'portal:write',
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
  /** The first characters of the key; null for a key of an earlier version. */
  readonly prefix: string | null;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  /** Epoch milliseconds; null: it is live. */
  readonly revokedAt: number | null;
}

export interface NewApiKey {
  readonly fleetId: string;
  readonly scopes: readonly ApiKeyScope[];
  readonly nowMs: number;
  readonly name?: string | null;
  /** The id of the API key that makes it. Default null: an operator does. */
  readonly madeWith?: string | null;
}

export type CreateApiKeyResult =
  | {
      readonly type: 'created';
      readonly id: string;
      /** Shown once, never stored. */
      readonly key: string;
      readonly stored: StoredApiKey;
    }
  | LimitReached
  /** The key that makes it was revoked, which directories of keys learn a moment later. */
  | { readonly type: 'key_revoked' }
  | { readonly type: 'fleet_not_found' };

export type RevokeApiKeyResult = { readonly type: 'revoked' } | { readonly type: 'not_found' };

/** Cryptographically secure. */
export type RandomBytes = (size: number) => Buffer;
/** Injection token of the `RandomBytes` that API keys are made of. */
export const KEY_BYTES = Symbol('KEY_BYTES');

/** `wp_` and 6 of 43 characters: enough to tell keys apart, and no help in guessing the rest. */
const PREFIX_LENGTH = 9;
const FORGET_AT_ONCE = 100;

/** API keys of fleets; only their SHA-256 is stored. */
@Injectable()
export class ApiKeyStore {
  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    @Inject(KEY_BYTES) private readonly randomBytes: RandomBytes,
  ) {}

  async create(
    { fleetId, scopes, nowMs, name = null, madeWith = null }: NewApiKey,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<CreateApiKeyResult> {
    const key = formatApiKey(this.randomBytes(32));
    const stored = {
      id: randomUUID(),
      fleetId,
      name,
      prefix: key.slice(0, PREFIX_LENGTH),
      scopes: [...scopes],
      createdAt: nowMs,
      revokedAt: null,
    };
    return inFleet(this.keys.manager, fleetId, async (manager): Promise<CreateApiKeyResult> => {
      if ((await lockFleet(manager, fleetId)) === null) return { type: 'fleet_not_found' };
      if (!(await isKeyLive(manager, madeWith))) return { type: 'key_revoked' };
      const live = await manager.countBy(ApiKeyEntity, { fleetId, revokedAt: IsNull() });
      const reached = limitReached(limits, 'apiKeys', live, 1);
      if (reached !== null) return reached;
      await forgetRevoked(manager, fleetId, limits);
      await manager.insert(ApiKeyEntity, { ...stored, hash: hashApiKey(key) });
      return { type: 'created', id: stored.id, key, stored };
    });
  }

  /** The live key with this SHA-256, or null. */
  async find(hash: Buffer): Promise<ApiKeyRecord | null> {
    const found = await inAllFleets(this.keys.manager, (manager) =>
      manager.findOneBy(ApiKeyEntity, { hash, revokedAt: IsNull() }),
    );
    return found && { id: found.id, fleetId: found.fleetId, hash: found.hash, scopes: found.scopes };
  }

  /** Revoked ones too, as long as they are kept. */
  async get(ref: { readonly fleetId: string; readonly id: string }): Promise<StoredApiKey | null> {
    const { fleetId, id } = ref;
    const found = await inFleet(this.keys.manager, fleetId, (manager) =>
      manager.findOneBy(ApiKeyEntity, { fleetId, id }),
    );
    return found && shown(found);
  }

  /** Oldest first, with the revoked ones that are kept. */
  async list(query: ListQuery): Promise<Listed<StoredApiKey>> {
    const { rows, hasMore } = await inFleet(this.keys.manager, query.fleetId, (manager) =>
      listPage(manager.getRepository(ApiKeyEntity), 'id', query),
    );
    return { rows: rows.map(shown), hasMore };
  }

  /** Permanent. Revoking a revoked key changes nothing. */
  revoke(
    { fleetId, id }: { readonly fleetId: string; readonly id: string },
    nowMs: number,
  ): Promise<RevokeApiKeyResult> {
    return inFleet(this.keys.manager, fleetId, async (manager): Promise<RevokeApiKeyResult> => {
      if (!(await manager.existsBy(ApiKeyEntity, { fleetId, id }))) return { type: 'not_found' };
      await manager.update(ApiKeyEntity, { id, revokedAt: IsNull() }, { revokedAt: nowMs });
      return { type: 'revoked' };
    });
  }
}

/**
 * Whether the key that makes something is live; null: an operator makes it. The answer holds until the caller's transaction
 * ends: a revocation that has begun is waited for, and one that begins now waits.
 */
export async function isKeyLive(manager: EntityManager, keyId: string | null): Promise<boolean> {
  if (keyId === null) return true;
  const found = await manager.findOne(ApiKeyEntity, {
    select: { id: true },
    where: { id: keyId, revokedAt: IsNull() },
    lock: { mode: 'pessimistic_read' },
  });
  return found !== null;
}

/**
 * The longest revoked beyond the limit. A key that a listed session names stays and does not count: of those there are no more
 * than sessions.
 */
async function forgetRevoked(manager: EntityManager, fleetId: string, { apiKeys }: FleetLimits): Promise<void> {
  const revoked = manager
    .createQueryBuilder(ApiKeyEntity, 'key')
    .where('key.fleetId = :fleetId AND key.revokedAt IS NOT NULL', { fleetId });
  const session = revoked.subQuery().select('1').from(PortalSessionEntity, 'session').where('session.keyId = key.id');
  revoked.andWhere(`NOT EXISTS ${session.getQuery()}`);
  const excess = (await revoked.getCount()) - apiKeys;
  if (excess <= 0) return;
  const oldest = revoked.select('key.id').orderBy('key.revokedAt', 'ASC').addOrderBy('key.id', 'ASC');
  const keys = await oldest.limit(Math.min(excess, FORGET_AT_ONCE)).getMany();
  await manager.delete(
    ApiKeyEntity,
    keys.map(({ id }) => id),
  );
}

function shown({ hash: _, ...stored }: ApiKeyEntity): StoredApiKey {
  return stored;
}
