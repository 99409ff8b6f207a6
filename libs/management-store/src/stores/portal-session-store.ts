import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  type EntityManager,
  IsNull,
  LessThanOrEqual,
  MoreThan,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { DAY_MS, formatCredential, hashApiKey } from '@waypost/domain';
import { ApiKeyEntity, PortalSessionEntity } from '../entities.js';
import { isKeyLive, KEY_BYTES, type RandomBytes } from './api-key-store.js';
import { type FleetLimits, type LimitReached, limitReached, NO_LIMITS } from './fleet-limits.js';
import { lockFleet } from './fleet-store.js';
import { type Listed, listPage, type ListQuery } from './list-page.js';

/**
 * What a portal session can be allowed to do. Not here: keys and sessions, which would outlive it, and changes of
 * the fleet, which decides what may frame it.
 */
export const PORTAL_SCOPES = [
  'events:read',
  'paths:read',
  'subscriptions:read',
  'subscriptions:write',
  'geofences:read',
  'geofences:write',
  'fleet:read',
] as const;
export type PortalScope = (typeof PORTAL_SCOPES)[number];

/** A live session, for the request that carries its token. */
export interface PortalSessionRecord {
  readonly id: string;
  readonly fleetId: string;
  readonly hash: Buffer;
  /** The admin key that made it, which only the configuration knows; null: an API key did, and is live. */
  readonly adminKeyId: string | null;
  readonly scopes: readonly string[];
  /** null: all subscriptions of the fleet. */
  readonly subscriptionIds: readonly string[] | null;
  readonly expiresAt: number;
}

/** What may be shown of a session. Times are epoch milliseconds. */
export interface StoredPortalSession {
  readonly id: string;
  readonly fleetId: string;
  /** The API key that made it; null: an operator did. */
  readonly keyId: string | null;
  readonly adminKeyId: string | null;
  readonly scopes: readonly string[];
  readonly subscriptionIds: readonly string[] | null;
  readonly returnUrl: string | null;
  readonly codeExpiresAt: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** null: its link has not been opened. */
  readonly exchangedAt: number | null;
  readonly revokedAt: number | null;
}

export interface NewPortalSession {
  readonly fleetId: string;
  /** The id of an API key or, with null there, of an admin key. */
  readonly keyId: string | null;
  readonly adminKeyId: string | null;
  readonly scopes: readonly PortalScope[];
  readonly subscriptionIds: readonly string[] | null;
  readonly returnUrl: string | null;
  readonly codeExpiresAt: number;
  readonly expiresAt: number;
  readonly nowMs: number;
}

export type CreatePortalSessionResult =
  | {
      readonly type: 'created';
      /** Shown once, never stored. */
      readonly code: string;
      readonly stored: StoredPortalSession;
    }
  | LimitReached
  /** The key that makes it was revoked, which directories of keys learn a moment later. */
  | { readonly type: 'key_revoked' }
  | { readonly type: 'fleet_not_found' };

export type ExchangePortalCodeResult =
  | {
      readonly type: 'exchanged';
      /** Shown once, never stored. */
      readonly token: string;
      readonly stored: StoredPortalSession;
    }
  /** It never existed, was used, has expired, or its session or the key that made it was revoked. */
  | { readonly type: 'not_found' };

interface SessionRow extends StoredPortalSession {
  readonly codeHash: Buffer | null;
  readonly tokenHash: Buffer | null;
}

const SECRET_BYTES = 32;
/** How long an ended session is listed. */
const LISTED_MS = DAY_MS;
const FORGET_AT_ONCE = 100;

/** Sessions of the portal. Each ends by itself, when it is revoked, or with the API key that made it. */
@Injectable()
export class PortalSessionStore {
  constructor(
    @InjectRepository(PortalSessionEntity) private readonly sessions: Repository<PortalSessionEntity>,
    @Inject(KEY_BYTES) private readonly randomBytes: RandomBytes,
  ) {}

  async create(
    { nowMs, ...session }: NewPortalSession,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<CreatePortalSessionResult> {
    await inAllFleets(this.sessions.manager, (manager) => forgetOld(manager, nowMs));
    const code = formatCredential('portalCode', this.randomBytes(SECRET_BYTES));
    const { fleetId, scopes, subscriptionIds } = session;
    const row = this.sessions.create({
      ...session,
      id: randomUUID(),
      scopes: [...scopes],
      subscriptionIds: subscriptionIds && [...subscriptionIds],
      codeHash: hashApiKey(code),
      tokenHash: null,
      createdAt: nowMs,
      exchangedAt: null,
      revokedAt: null,
    });
    return inFleet(this.sessions.manager, fleetId, async (manager): Promise<CreatePortalSessionResult> => {
      if ((await lockFleet(manager, fleetId)) === null) return { type: 'fleet_not_found' };
      if (!(await isKeyLive(manager, row.keyId))) return { type: 'key_revoked' };
      const live = await countLive(manager, fleetId, nowMs);
      const reached = limitReached(limits, 'portalSessions', live, 1);
      if (reached !== null) return reached;
      const ended = (await manager.countBy(PortalSessionEntity, { fleetId })) - live;
      await forgetEnded(manager, { fleetId, nowMs, excess: ended - limits.portalSessions });
      await manager.insert(PortalSessionEntity, row);
      return { type: 'created', code, stored: shown(row) };
    });
  }

  /** Works once: of several at the same time, one succeeds. */
  exchange(code: string, nowMs: number): Promise<ExchangePortalCodeResult> {
    return inAllFleets(this.sessions.manager, async (manager): Promise<ExchangePortalCodeResult> => {
      const session: SessionRow | null = await manager.findOne(PortalSessionEntity, {
        where: { codeHash: hashApiKey(code), codeExpiresAt: MoreThan(nowMs), revokedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      if (session === null || !(await isKeyLive(manager, session.keyId))) return { type: 'not_found' };
      const token = formatCredential('portalToken', this.randomBytes(SECRET_BYTES));
      const exchanged = { codeHash: null, tokenHash: hashApiKey(token), exchangedAt: nowMs };
      await manager.update(PortalSessionEntity, { id: session.id }, exchanged);
      return { type: 'exchanged', token, stored: shown({ ...session, ...exchanged }) };
    });
  }

  /** The live session whose token has this SHA-256, or null. */
  async find(tokenHash: Buffer, nowMs: number): Promise<PortalSessionRecord | null> {
    const found = await inAllFleets(this.sessions.manager, (manager) =>
      sessionsThat(manager, 'LIVE', nowMs).andWhere({ tokenHash }).getOne(),
    );
    if (found === null) return null;
    const { id, fleetId, adminKeyId, scopes, subscriptionIds, expiresAt } = found;
    const hash = found.tokenHash ?? Buffer.alloc(0);
    return { id, fleetId, hash, adminKeyId, scopes, subscriptionIds, expiresAt };
  }

  async get(ref: { readonly fleetId: string; readonly id: string }): Promise<StoredPortalSession | null> {
    const { fleetId, id } = ref;
    const found = await inFleet(this.sessions.manager, fleetId, (manager) =>
      manager.findOneBy(PortalSessionEntity, { fleetId, id }),
    );
    return found && shown(found);
  }

  /** Oldest first; ended ones for a day at most, and only the newest of them. */
  async list(query: ListQuery): Promise<Listed<StoredPortalSession>> {
    const { rows, hasMore } = await inFleet(this.sessions.manager, query.fleetId, (manager) =>
      listPage(manager.getRepository(PortalSessionEntity), 'id', query),
    );
    return { rows: rows.map(shown), hasMore };
  }

  /** Permanent. Revoking a revoked session changes nothing. */
  revoke(
    { fleetId, id }: { readonly fleetId: string; readonly id: string },
    nowMs: number,
  ): Promise<{ readonly type: 'revoked' } | { readonly type: 'not_found' }> {
    return inFleet(this.sessions.manager, fleetId, async (manager) => {
      if (!(await manager.existsBy(PortalSessionEntity, { fleetId, id }))) return { type: 'not_found' } as const;
      await manager.update(PortalSessionEntity, { id, revokedAt: IsNull() }, { revokedAt: nowMs });
      return { type: 'revoked' } as const;
    });
  }
}

/** A session ends by itself, when it is revoked, or with its key, of which the row is joined while it is live. */
const LIVE = 'session.revokedAt IS NULL AND session.expiresAt > :now AND (session.keyId IS NULL OR key.id IS NOT NULL)';
const CONDITIONS = { LIVE, ENDED: `NOT (${LIVE})` };

function sessionsThat(
  manager: EntityManager,
  are: keyof typeof CONDITIONS,
  nowMs: number,
): SelectQueryBuilder<PortalSessionEntity> {
  return manager
    .createQueryBuilder(PortalSessionEntity, 'session')
    .leftJoin(ApiKeyEntity, 'key', 'key.id = session.keyId AND key.fleetId = session.fleetId AND key.revokedAt IS NULL')
    .where(CONDITIONS[are], { now: new Date(nowMs) });
}

/** Creations queue meanwhile: `getCount()` would sort the ids, since it joins. */
async function countLive(manager: EntityManager, fleetId: string, nowMs: number): Promise<number> {
  const live = sessionsThat(manager, 'LIVE', nowMs).andWhere({ fleetId });
  const counted = await live.select('count(*)', 'count').getRawOne<{ count: string }>();
  return Number(counted?.count);
}

/** The oldest beyond as many as stay listed: a caller that revokes what it creates cannot fill the database either. */
async function forgetEnded(
  manager: EntityManager,
  { fleetId, nowMs, excess }: { readonly fleetId: string; readonly nowMs: number; readonly excess: number },
): Promise<void> {
  if (excess <= 0) return;
  const oldest = sessionsThat(manager, 'ENDED', nowMs)
    .andWhere({ fleetId })
    .select('session.id')
    .orderBy('session.createdAt', 'ASC')
    .addOrderBy('session.id', 'ASC')
    .limit(Math.min(excess, FORGET_AT_ONCE))
    .setLock('pessimistic_write', undefined, ['session'])
    .setOnLocked('skip_locked');
  await forget(manager, await oldest.getMany());
}

/** A bounded number per new session: there are never many. */
async function forgetOld(manager: EntityManager, nowMs: number): Promise<void> {
  const old = await manager.find(PortalSessionEntity, {
    select: { id: true },
    where: { expiresAt: LessThanOrEqual(nowMs - LISTED_MS) },
    order: { expiresAt: 'ASC' },
    take: FORGET_AT_ONCE,
    // Those of any fleet: without it, two creations could each wait for rows that the other deletes.
    lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
  });
  await forget(manager, old);
}

async function forget(manager: EntityManager, old: readonly Pick<PortalSessionEntity, 'id'>[]): Promise<void> {
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await manager.delete(PortalSessionEntity, ids);
}

function shown({ codeHash: _code, tokenHash: _token, ...session }: SessionRow): StoredPortalSession {
  return session;
}
