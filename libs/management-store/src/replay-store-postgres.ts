import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { lockSubscription } from './lock-subscription.js';
import { appendToOutbox } from './outbox.js';
import { INSERT_REPLAY, type ReplayRow, replayValues, storedReplay } from './replay-rows.js';
import {
  type CancelReplayResult,
  type CreateReplayResult,
  type NewReplay,
  REPLAY_KEPT_MS,
  type ReplayQuery,
  type ReplayStore,
  type StoredReplay,
  UNFINISHED_REPLAYS,
} from './replay-store.js';
import type { SubscriptionRef } from './subscription-store.js';

export function createReplayStore(database: EntityManager): ReplayStore {
  return {
    create: (ref, replay, nowMs) => database.transaction((manager) => createReplay(manager, ref, replay, nowMs)),
    list: (query) => listReplays(database, query),
    get: (ref, replayId) => findReplay(database, ref, replayId),
    cancel: (ref, replayId, nowMs) => database.transaction((manager) => cancelReplay(manager, ref, replayId, nowMs)),
    recordProgress: (progress) => recordProgress(database, progress),
  };
}

const UNFINISHED = `(progress_state IS NULL OR progress_state = 'running')`;

/** The lock on the subscription makes series and bound exact, and keeps it from being deleted meanwhile. */
async function createReplay(
  manager: EntityManager,
  ref: SubscriptionRef,
  given: NewReplay,
  nowMs: number,
): Promise<CreateReplayResult> {
  if ((await lockSubscription(manager, ref)) === null) return { type: 'not_found' };
  await forgetOld(manager, nowMs);
  const [counted] = await manager.query<{ unfinished: string }[]>(
    `SELECT count(*) AS unfinished FROM webhook_replays WHERE subscription_id = $1 AND ${UNFINISHED}`,
    [ref.id],
  );
  if (Number(counted?.unfinished) >= UNFINISHED_REPLAYS) return { type: 'too_many' };
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
  await manager.query(INSERT_REPLAY, replayValues(replay));
  const outboxIds = await appendToOutbox(manager, [entryOf(replay)], nowMs);
  return { type: 'created', stored: { replay, progress: null }, outboxIds };
}

async function nextSeries(manager: EntityManager, subscriptionId: string): Promise<number> {
  const [row] = await manager.query<{ last_series: number }[]>(
    `INSERT INTO webhook_replay_series (subscription_id, last_series) VALUES ($1, 1)
     ON CONFLICT (subscription_id) DO UPDATE SET last_series = webhook_replay_series.last_series + 1
     RETURNING last_series`,
    [subscriptionId],
  );
  if (row === undefined) throw new Error('No series was given.');
  return row.last_series;
}

function entryOf(replay: WebhookReplay) {
  return {
    kind: 'webhook-replay',
    key: replay.replayId,
    partitionKey: replay.subscriptionId,
    value: replay,
  } as const;
}

/** A few at a time, as new ones come: so there are never many. */
async function forgetOld(manager: EntityManager, nowMs: number): Promise<void> {
  const [gone] = await manager.query<[{ replay_id: string; subscription_id: string }[], number]>(
    `DELETE FROM webhook_replays WHERE replay_id IN (
       SELECT replay_id FROM webhook_replays WHERE created_at < $1 ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED
     ) RETURNING replay_id, subscription_id`,
    [new Date(nowMs - REPLAY_KEPT_MS)],
  );
  const tombstones = gone.map(
    (row) => ({ kind: 'webhook-replay', key: row.replay_id, partitionKey: row.subscription_id, value: null }) as const,
  );
  if (tombstones.length > 0) await appendToOutbox(manager, tombstones, nowMs);
}

async function listReplays(manager: EntityManager, { ref, limit, beforeSeries }: ReplayQuery): Promise<StoredReplay[]> {
  const rows = await manager.query<ReplayRow[]>(
    `SELECT * FROM webhook_replays
      WHERE subscription_id = $1 AND fleet_id = $2 AND ($4::integer IS NULL OR series < $4)
      ORDER BY series DESC LIMIT $3`,
    [ref.id, ref.fleetId, limit, beforeSeries],
  );
  return rows.map(storedReplay);
}

async function findReplay(
  manager: EntityManager,
  ref: SubscriptionRef,
  replayId: string,
  lock = '',
): Promise<StoredReplay | null> {
  const [row] = await manager.query<ReplayRow[]>(
    `SELECT * FROM webhook_replays WHERE replay_id = $1 AND subscription_id = $2 AND fleet_id = $3 ${lock}`,
    [replayId, ref.id, ref.fleetId],
  );
  return row === undefined ? null : storedReplay(row);
}

async function cancelReplay(
  manager: EntityManager,
  ref: SubscriptionRef,
  replayId: string,
  nowMs: number,
): Promise<CancelReplayResult> {
  const stored = await findReplay(manager, ref, replayId, 'FOR UPDATE');
  if (stored === null) return { type: 'not_found' };
  const isOver = stored.progress !== null && stored.progress.state !== 'running';
  if (isOver || stored.replay.cancelled) return { type: 'unchanged', stored };
  const replay = { ...stored.replay, cancelled: true, version: stored.replay.version + 1, updatedAt: nowMs };
  await manager.query(
    'UPDATE webhook_replays SET cancelled = true, version = $2, updated_at = $3 WHERE replay_id = $1',
    [...[replayId, replay.version, new Date(nowMs)]],
  );
  const outboxIds = await appendToOutbox(manager, [entryOf(replay)], nowMs);
  return { type: 'changed', stored: { ...stored, replay }, outboxIds };
}

/** Told by what was sent, not by the clock, which may differ from one replayer to the next. */
async function recordProgress(manager: EntityManager, progress: readonly ReplayProgress[]): Promise<void> {
  const newest = [...new Map(progress.map((one) => [one.replayId, one])).values()];
  if (newest.length === 0) return;
  await manager.query(
    `UPDATE webhook_replays AS r
        SET progress_state = p.state, matched = coalesce(p.matched, r.matched), sent = p.sent,
            started_at = p.started_at, progress_at = p.updated_at
       FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
         AS p (replay_id, state, matched, sent, started_at, updated_at)
      WHERE r.replay_id = p.replay_id AND p.sent >= r.sent AND ${UNFINISHED}`,
    [
      newest.map((one) => one.replayId),
      newest.map((one) => one.state),
      newest.map((one) => one.matched),
      newest.map((one) => one.sent),
      newest.map((one) => new Date(one.startedAt)),
      newest.map((one) => new Date(one.updatedAt)),
    ],
  );
}
