import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, IsNull, LessThan, MoreThanOrEqual, type Repository } from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { DAY_MS, LOG_RETENTION_MS, type ReplayProgress, type WebhookReplay } from '@waypost/domain';
import { WebhookReplayEntity, WebhookReplaySeriesEntity } from '../entities.js';
import { appendToOutbox } from '../outbox/outbox.js';
import { type FleetLimits, type LimitReached, limitReached, NO_LIMITS } from './fleet-limits.js';
import { lockFleet } from './fleet-store.js';
import { lockSubscription, type SubscriptionRef } from './subscription-versions.js';

/** What a caller decides about a new replay; the store adds series, version and times. */
export type NewReplay = Pick<
  WebhookReplay,
  | 'replayId'
  | 'startDate'
  | 'endDate'
  | 'status'
  | 'statusCode'
  | 'eventType'
  | 'deviceId'
  | 'eventId'
  | 'ratePerSecond'
>;

/** A replay and the newest record of its progress topic; null: none yet. */
export interface StoredReplay {
  readonly replay: WebhookReplay;
  readonly progress: Pick<ReplayProgress, 'state' | 'matched' | 'sent' | 'startedAt' | 'updatedAt'> | null;
}

export type CreateReplayResult =
  | { readonly type: 'created'; readonly stored: StoredReplay; readonly outboxIds: readonly string[] }
  /** The subscription has UNFINISHED_REPLAYS that are not finished. */
  | { readonly type: 'too_many' }
  | LimitReached
  | { readonly type: 'not_found' };

export type CancelReplayResult =
  | { readonly type: 'changed'; readonly stored: StoredReplay; readonly outboxIds: readonly string[] }
  /** It is finished or was cancelled before. */
  | { readonly type: 'unchanged'; readonly stored: StoredReplay }
  | { readonly type: 'not_found' };

export interface ReplayQuery {
  readonly ref: SubscriptionRef;
  readonly limit: number;
  /** Only those of a lower series; null: from the newest on. */
  readonly beforeSeries: number | null;
}

/** Upper bound of unfinished replays per subscription. */
export const UNFINISHED_REPLAYS = 3;

const FORGET_AT_ONCE = 100;

/**
 * Replays of subscriptions. Every change and its outbox row are one SQL transaction. `nowMs` is the caller's
 * clock. A subscription of another fleet is not found.
 */
@Injectable()
export class ReplayStore {
  constructor(@InjectRepository(WebhookReplayEntity) private readonly replays: Repository<WebhookReplayEntity>) {}

  /** Assigns the next series of the subscription, and forgets replays that are older than LOG_RETENTION_MS. */
  create(
    ref: SubscriptionRef,
    given: NewReplay,
    nowMs: number,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<CreateReplayResult> {
    return inFleet(this.replays.manager, ref.fleetId, async (manager): Promise<CreateReplayResult> => {
      // The lock makes series and bound exact, and keeps the subscription from being deleted meanwhile.
      if ((await lockSubscription(manager, ref)) === null) return { type: 'not_found' };
      await inAllFleets(manager, (every) => forgetOld(every, nowMs));
      if ((await countUnfinished(manager, ref)) >= UNFINISHED_REPLAYS) return { type: 'too_many' };
      // After that on the subscription, as changes of device ids lock it.
      await lockFleet(manager, ref.fleetId);
      const reached = limitReached(limits, 'startedReplays', await countStarted(manager, ref.fleetId, nowMs), 1);
      if (reached !== null) return reached;
      const replay: WebhookReplay = {
        ...given,
        subscriptionId: ref.id,
        fleetId: ref.fleetId,
        series: await nextSeries(manager, ref.id),
        cancelled: false,
        version: 1,
        createdAt: nowMs,
        updatedAt: nowMs,
      };
      // A copy: TypeORM writes the database's defaults into the object that it inserts.
      await manager.insert(WebhookReplayEntity, { ...replay });
      const outboxIds = await appendToOutbox(manager, [entryOf(replay)], nowMs);
      return { type: 'created', stored: { replay, progress: null }, outboxIds };
    });
  }

  /** Newest first. */
  async list({ ref, limit, beforeSeries }: ReplayQuery): Promise<readonly StoredReplay[]> {
    const where = {
      subscriptionId: ref.id,
      fleetId: ref.fleetId,
      ...(beforeSeries === null ? {} : { series: LessThan(beforeSeries) }),
    };
    const rows = await inFleet(this.replays.manager, ref.fleetId, (manager) =>
      manager.find(WebhookReplayEntity, { where, order: { series: 'DESC' }, take: limit }),
    );
    return rows.map(storedReplay);
  }

  /** When the oldest one was created that is not forgotten; null: there is none. */
  async firstCreatedAt({ id: subscriptionId, fleetId }: SubscriptionRef): Promise<number | null> {
    const first = await inFleet(this.replays.manager, fleetId, (manager) =>
      manager.findOne(WebhookReplayEntity, { where: { subscriptionId, fleetId }, order: { series: 'ASC' } }),
    );
    return first?.createdAt ?? null;
  }

  async get(ref: SubscriptionRef, replayId: string): Promise<StoredReplay | null> {
    const where = { replayId, subscriptionId: ref.id, fleetId: ref.fleetId };
    const row = await inFleet(this.replays.manager, ref.fleetId, (manager) =>
      manager.findOneBy(WebhookReplayEntity, where),
    );
    return row && storedReplay(row);
  }

  cancel(ref: SubscriptionRef, replayId: string, nowMs: number): Promise<CancelReplayResult> {
    return inFleet(this.replays.manager, ref.fleetId, async (manager): Promise<CancelReplayResult> => {
      const row = await manager.findOne(WebhookReplayEntity, {
        where: { replayId, subscriptionId: ref.id, fleetId: ref.fleetId },
        lock: { mode: 'pessimistic_write' },
      });
      if (row === null) return { type: 'not_found' };
      const stored = storedReplay(row);
      const isFinished = stored.progress !== null && stored.progress.state !== 'running';
      if (isFinished || stored.replay.cancelled) return { type: 'unchanged', stored };
      const change = { cancelled: true, version: row.version + 1, updatedAt: nowMs };
      await manager.update(WebhookReplayEntity, { replayId }, change);
      const replay = { ...stored.replay, ...change };
      const outboxIds = await appendToOutbox(manager, [entryOf(replay)], nowMs);
      return { type: 'changed', stored: { ...stored, replay }, outboxIds };
    });
  }

  /** Applies progress records in their order. Older progress, and progress of replays that are gone, changes nothing. */
  async recordProgress(progress: readonly ReplayProgress[]): Promise<void> {
    const newest = [...new Map(progress.map((one) => [one.replayId, one])).values()];
    if (newest.length === 0) return;
    const columns = [
      newest.map((one) => one.replayId),
      newest.map((one) => one.state),
      newest.map((one) => one.matched),
      newest.map((one) => one.sent),
      newest.map((one) => new Date(one.startedAt)),
      newest.map((one) => new Date(one.updatedAt)),
    ];
    await inAllFleets(this.replays.manager, (manager) => manager.query(UPDATE_PROGRESS, columns));
  }
}

/**
 * SQL by hand: one statement projects a batch of the progress topic. Progress is ordered by the number of deliveries sent,
 * not by time: the clocks of two replayers may differ.
 */
const UPDATE_PROGRESS = `
  UPDATE webhook_replays AS r
     SET progress_state = p.state, matched = coalesce(p.matched, r.matched), sent = p.sent,
         started_at = p.started_at, progress_at = p.updated_at
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
      AS p (replay_id, state, matched, sent, started_at, updated_at)
   WHERE r.replay_id = p.replay_id AND p.sent >= r.sent
     AND (r.progress_state IS NULL OR r.progress_state = 'running')`;

function countUnfinished(manager: EntityManager, { id: subscriptionId }: SubscriptionRef): Promise<number> {
  return manager.countBy(WebhookReplayEntity, [
    { subscriptionId, progressState: IsNull() },
    { subscriptionId, progressState: 'running' },
  ]);
}

/** Those of the day (UTC). Finished ones too: each stays in the topics, and in memory, until it is forgotten. */
function countStarted(manager: EntityManager, fleetId: string, nowMs: number): Promise<number> {
  const startOfDay = nowMs - (nowMs % DAY_MS);
  return manager.countBy(WebhookReplayEntity, { fleetId, createdAt: MoreThanOrEqual(startOfDay) });
}

/** The caller holds the subscription's lock. */
async function nextSeries(manager: EntityManager, subscriptionId: string): Promise<number> {
  const given = await manager.findOneBy(WebhookReplaySeriesEntity, { subscriptionId });
  const lastSeries = (given?.lastSeries ?? 0) + 1;
  await manager.upsert(WebhookReplaySeriesEntity, { subscriptionId, lastSeries }, ['subscriptionId']);
  return lastSeries;
}

/** A bounded number per new replay: there are never many. Skips rows that another transaction is forgetting. */
async function forgetOld(manager: EntityManager, nowMs: number): Promise<void> {
  const old = await manager.find(WebhookReplayEntity, {
    select: { replayId: true, subscriptionId: true },
    where: { createdAt: LessThan(nowMs - LOG_RETENTION_MS) },
    order: { createdAt: 'ASC' },
    take: FORGET_AT_ONCE,
    lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
  });
  if (old.length === 0) return;
  await manager.delete(WebhookReplayEntity, { replayId: In(old.map(({ replayId }) => replayId)) });
  const tombstones = old.map(
    ({ replayId, subscriptionId }) =>
      ({ kind: 'webhook-replay', key: replayId, partitionKey: subscriptionId, value: null }) as const,
  );
  await appendToOutbox(manager, tombstones, nowMs);
}

function entryOf(replay: WebhookReplay) {
  return { kind: 'webhook-replay', key: replay.replayId, partitionKey: replay.subscriptionId, value: replay } as const;
}

function storedReplay(row: WebhookReplayEntity): StoredReplay {
  const { progressState: state, matched, sent, startedAt, progressAt, ...replay } = row;
  const progress =
    state === null || startedAt === null || progressAt === null
      ? null
      : { state, matched, sent, startedAt, updatedAt: progressAt };
  return { replay, progress };
}
