import type { EntityManager } from 'typeorm';
import {
  type ChangeOnceResult,
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyRef,
  type IdempotencyStore,
  type KeptAnswer,
} from './idempotency-store.js';
import type { ChangeStores } from './change-stores.js';

export interface IdempotencyStoreDeps {
  readonly database: EntityManager;
  /** The stores on the connection of one transaction. */
  readonly storesOn: (manager: EntityManager) => ChangeStores;
}

export function createIdempotencyStore({ database, storesOn }: IdempotencyStoreDeps): IdempotencyStore {
  return {
    find: (ref, nowMs) => findAnswer(database, ref, nowMs),
    once: <T>(
      ref: IdempotencyRef,
      nowMs: number,
      change: (stores: ChangeStores) => Promise<{ readonly made: T; readonly answer: KeptAnswer }>,
    ) =>
      database.transaction(async (manager): Promise<ChangeOnceResult<T>> => {
        if (!(await tryLock(manager, ref))) return { type: 'in_progress' };
        // Whoever held the lock before has committed or is gone.
        const kept = await findAnswer(manager, ref, nowMs);
        if (kept !== null) return { type: 'kept', answer: kept };
        await forgetOld(manager, nowMs);
        const { made, answer } = await change(storesOn(manager));
        await keepAnswer(manager, ref, answer, nowMs);
        return { type: 'made', made };
      }),
  };
}

/** Held to the end of the transaction, also by a process that dies: the server ends it with the connection. */
async function tryLock(manager: EntityManager, { fleetId, route, key }: IdempotencyRef): Promise<boolean> {
  const [row] = await manager.query<{ held: boolean }[]>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held',
    [['idempotency', fleetId, route, key].join('\u001f')],
  );
  return row?.held === true;
}

async function findAnswer(manager: EntityManager, ref: IdempotencyRef, nowMs: number): Promise<KeptAnswer | null> {
  const [row] = await manager.query<KeptAnswer[]>(
    `SELECT sealed, outbox_ids::text[] AS "outboxIds" FROM idempotency_keys
      WHERE fleet_id = $1 AND route = $2 AND key = $3 AND created_at > $4`,
    [ref.fleetId, ref.route, ref.key, new Date(nowMs - IDEMPOTENCY_KEPT_MS)],
  );
  return row ?? null;
}

async function keepAnswer(
  manager: EntityManager,
  { fleetId, route, key }: IdempotencyRef,
  { sealed, outboxIds }: KeptAnswer,
  nowMs: number,
): Promise<void> {
  // What is there under this key can only be too old to count.
  await manager.query(
    `INSERT INTO idempotency_keys (fleet_id, route, key, sealed, outbox_ids, created_at)
     VALUES ($1, $2, $3, $4, $5::bigint[], $6)
     ON CONFLICT (fleet_id, route, key)
     DO UPDATE SET sealed = excluded.sealed, outbox_ids = excluded.outbox_ids, created_at = excluded.created_at`,
    [fleetId, route, key, sealed, outboxIds, new Date(nowMs)],
  );
}

/** A few at a time, as new ones come: so there are never many. */
async function forgetOld(manager: EntityManager, nowMs: number): Promise<void> {
  await manager.query(
    `DELETE FROM idempotency_keys WHERE (fleet_id, route, key) IN (
       SELECT fleet_id, route, key FROM idempotency_keys WHERE created_at <= $1
        ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED
     )`,
    [new Date(nowMs - IDEMPOTENCY_KEPT_MS)],
  );
}
