import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { DAY_MS } from '@waypost/domain';
import { IdempotencyKeyEntity } from '../entities.js';
import { KEY_BYTES, type RandomBytes } from './api-key-store.js';
import { ChangeStores } from './change-stores.js';

/** One idempotency key: it belongs to a fleet and a route. */
export interface IdempotencyRef {
  readonly fleetId: string;
  /** Method and path template, such as `POST /public/v1/geofences`. */
  readonly route: string;
  readonly key: string;
}

/** The response to a request. */
export interface KeptAnswer {
  /** The request's fingerprint and the response, sealed: the response may hold a secret that is shown once. */
  readonly sealed: string;
  /** Outbox rows of the change, for a caller that waits until it is published. */
  readonly outboxIds: readonly string[];
}

export type ChangeOnceResult<T> =
  | { readonly type: 'made'; readonly made: T }
  /** The change was made before. */
  | { readonly type: 'kept'; readonly answer: KeptAnswer }
  /** Another request with this key is in progress. */
  | { readonly type: 'in_progress' };

export const IDEMPOTENCY_KEPT_MS = DAY_MS;

const FORGET_AT_ONCE = 100;

/** Responses to requests with an idempotency key, for IDEMPOTENCY_KEPT_MS. */
@Injectable()
export class IdempotencyStore {
  constructor(
    @InjectRepository(IdempotencyKeyEntity) private readonly keys: Repository<IdempotencyKeyEntity>,
    @Inject(KEY_BYTES) private readonly randomBytes: RandomBytes,
  ) {}

  find(ref: IdempotencyRef, nowMs: number): Promise<KeptAnswer | null> {
    return inFleet(this.keys.manager, ref.fleetId, (manager) => findAnswer(manager, ref, nowMs));
  }

  /**
   * Makes a change and keeps its response in the same SQL transaction: after a crash both exist or neither. A change that
   * throws leaves nothing. `change` must use the stores that it is given, and wait for nothing else.
   */
  once<T>(
    ref: IdempotencyRef,
    nowMs: number,
    change: (stores: ChangeStores) => Promise<{ readonly made: T; readonly answer: KeptAnswer }>,
  ): Promise<ChangeOnceResult<T>> {
    return inFleet(this.keys.manager, ref.fleetId, async (manager): Promise<ChangeOnceResult<T>> => {
      if (!(await tryLock(manager, ref))) return { type: 'in_progress' };
      // The previous holder of the lock has committed or is gone.
      const kept = await findAnswer(manager, ref, nowMs);
      if (kept !== null) return { type: 'kept', answer: kept };
      await inAllFleets(manager, (every) => forgetOld(every, nowMs));
      const { made, answer } = await change(ChangeStores.on(manager, this.randomBytes));
      // A row that exists under this key is older than IDEMPOTENCY_KEPT_MS.
      const row = { ...ref, ...answer, outboxIds: [...answer.outboxIds], createdAt: nowMs };
      await manager.upsert(IdempotencyKeyEntity, row, ['fleetId', 'route', 'key']);
      return { type: 'made', made };
    });
  }
}

/** By hand: TypeORM has no advisory locks. Held until the transaction ends, also by the death of the process. */
async function tryLock(manager: EntityManager, { fleetId, route, key }: IdempotencyRef): Promise<boolean> {
  const [row] = await manager.query<{ held: boolean }[]>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held',
    [['idempotency', fleetId, route, key].join('\u001f')],
  );
  return row?.held === true;
}

async function findAnswer(
  manager: EntityManager,
  { fleetId, route, key }: IdempotencyRef,
  nowMs: number,
): Promise<KeptAnswer | null> {
  const createdAt = MoreThan(nowMs - IDEMPOTENCY_KEPT_MS);
  const found = await manager.findOneBy(IdempotencyKeyEntity, { fleetId, route, key, createdAt });
  return found && { sealed: found.sealed, outboxIds: found.outboxIds };
}

/** A bounded number per new key: there are never many. Skips rows that another transaction is forgetting. */
async function forgetOld(manager: EntityManager, nowMs: number): Promise<void> {
  const old = await manager.find(IdempotencyKeyEntity, {
    select: { fleetId: true, route: true, key: true },
    where: { createdAt: LessThanOrEqual(nowMs - IDEMPOTENCY_KEPT_MS) },
    order: { createdAt: 'ASC' },
    take: FORGET_AT_ONCE,
    lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
  });
  await manager.remove(old);
}
