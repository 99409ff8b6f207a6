import type { SealedSecret, WebhookSubscription } from '@waypost/domain';
import { type DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { appendToOutbox, type OutboxEntry } from './outbox.js';
import type { NewSubscription, SubscriptionChange } from './subscription.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/** Where a page of subscriptions goes on: the last one's place in the order of creation. */
export interface SubscriptionPosition {
  readonly createdAt: number;
  readonly id: string;
}

export type CreateSubscriptionsResult =
  | {
      readonly type: 'created';
      readonly subscriptions: readonly WebhookSubscription[];
      readonly outboxIds: readonly string[];
    }
  /** These event types already have a subscription to this URL; nothing was made. */
  | { readonly type: 'conflict'; readonly eventTypes: readonly string[] }
  | { readonly type: 'fleet_not_found' };

export type ChangeSubscriptionResult =
  | { readonly type: 'changed'; readonly subscription: WebhookSubscription; readonly outboxIds: readonly string[] }
  /** The stored one is already so: no new version. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  | { readonly type: 'conflict' }
  | { readonly type: 'not_found' };

export type RotateSecretResult =
  | { readonly type: 'changed'; readonly subscription: WebhookSubscription; readonly outboxIds: readonly string[] }
  /** So many secrets still sign that another would make the signature header unreasonable. */
  | { readonly type: 'too_many_secrets'; readonly retryAt: number }
  | { readonly type: 'not_found' };

export type DeleteSubscriptionResult =
  { readonly type: 'deleted'; readonly outboxIds: readonly string[] } | { readonly type: 'not_found' };

/** One subscription of one fleet: another fleet's id is simply not found. */
export interface SubscriptionRef {
  readonly fleetId: string;
  readonly id: string;
}

/**
 * Webhook subscriptions. Every change and its outbox row are one SQL transaction; `version`
 * counts up. `nowMs` is the caller's clock.
 */
export interface SubscriptionStore {
  /** Makes all or none; the result keeps the order given. */
  create(subscriptions: readonly NewSubscription[], nowMs: number): Promise<CreateSubscriptionsResult>;
  /** Oldest first. */
  list(query: {
    fleetId: string;
    limit: number;
    after: SubscriptionPosition | null;
  }): Promise<readonly WebhookSubscription[]>;
  get(ref: SubscriptionRef): Promise<WebhookSubscription | null>;
  update(ref: SubscriptionRef, change: SubscriptionChange, nowMs: number): Promise<ChangeSubscriptionResult>;
  delete(ref: SubscriptionRef, nowMs: number): Promise<DeleteSubscriptionResult>;
  /** The current secret signs on until `oldSignsUntil` (epoch ms); expired ones are dropped. */
  rotateSecret(
    ref: SubscriptionRef,
    rotation: { sealed: string; oldSignsUntil: number; nowMs: number },
  ): Promise<RotateSecretResult>;
}

const MAX_SECRETS = 8;
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';

export function createSubscriptionStore(dataSource: DataSource): SubscriptionStore {
  async function create(drafts: readonly NewSubscription[], nowMs: number): Promise<CreateSubscriptionsResult> {
    const subscriptions = drafts.map((draft) => firstVersion(draft, nowMs));
    try {
      return await dataSource.transaction(async (manager): Promise<CreateSubscriptionsResult> => {
        await insertAll(manager, subscriptions);
        const outboxIds = await appendToOutbox(manager, subscriptions.map(published), nowMs);
        return { type: 'created', subscriptions, outboxIds };
      });
    } catch (error) {
      if (error instanceof SubscriptionsTaken) return { type: 'conflict', eventTypes: error.eventTypes };
      if (sqlState(error) === FOREIGN_KEY_VIOLATION) return { type: 'fleet_not_found' };
      throw error;
    }
  }

  function list(query: {
    fleetId: string;
    limit: number;
    after: SubscriptionPosition | null;
  }): Promise<WebhookSubscription[]> {
    const select = dataSource.manager
      .createQueryBuilder(WebhookSubscriptionEntity, 's')
      .where('s.fleet_id = :fleetId', { fleetId: query.fleetId })
      .orderBy('s.created_at')
      .addOrderBy('s.id')
      .limit(query.limit);
    if (query.after !== null) {
      const { createdAt, id } = query.after;
      select.andWhere('(s.created_at, s.id) > (:createdAt, :id)', { createdAt: new Date(createdAt), id });
    }
    return select.getMany();
  }

  function get({ fleetId, id }: SubscriptionRef): Promise<WebhookSubscription | null> {
    return dataSource.manager.findOneBy(WebhookSubscriptionEntity, { fleetId, id });
  }

  async function update(
    ref: SubscriptionRef,
    change: SubscriptionChange,
    nowMs: number,
  ): Promise<ChangeSubscriptionResult> {
    try {
      return await dataSource.transaction(async (manager): Promise<ChangeSubscriptionResult> => {
        const current = await lockRow(manager, ref);
        if (current === null) return { type: 'not_found' };
        if (changesNothing(current, change)) return { type: 'unchanged', subscription: current };
        // Whoever switches a disabled subscription on or off again has seen why it was disabled.
        const reason = change.status === undefined ? {} : { disabledReason: null };
        return { type: 'changed', ...(await saveVersion(manager, { ...current, ...change, ...reason }, nowMs)) };
      });
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return { type: 'conflict' };
      throw error;
    }
  }

  function rotateSecret(
    ref: SubscriptionRef,
    rotation: { sealed: string; oldSignsUntil: number; nowMs: number },
  ): Promise<RotateSecretResult> {
    return dataSource.transaction(async (manager): Promise<RotateSecretResult> => {
      const current = await lockRow(manager, ref);
      if (current === null) return { type: 'not_found' };
      const old = stillSigning(current.secrets, rotation);
      if (old.length >= MAX_SECRETS) return { type: 'too_many_secrets', retryAt: earliestExpiry(old) };
      const secrets = [{ sealed: rotation.sealed, expiresAt: null }, ...old];
      return { type: 'changed', ...(await saveVersion(manager, { ...current, secrets }, rotation.nowMs)) };
    });
  }

  function remove(ref: SubscriptionRef, nowMs: number): Promise<DeleteSubscriptionResult> {
    return dataSource.transaction(async (manager): Promise<DeleteSubscriptionResult> => {
      if ((await lockRow(manager, ref)) === null) return { type: 'not_found' };
      await manager.delete(WebhookSubscriptionEntity, { id: ref.id });
      const tombstone = { kind: 'webhook-subscription', key: ref.id, value: null } as const;
      return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
    });
  }

  return { create, list, get, update, delete: remove, rotateSecret };
}

/** Rolls the creation back; never leaves this file. */
class SubscriptionsTaken extends Error {
  constructor(readonly eventTypes: readonly string[]) {
    super('subscriptions exist');
  }
}

function firstVersion(draft: NewSubscription, nowMs: number): WebhookSubscription {
  return { ...draft, status: 'active', disabledReason: null, version: 1, createdAt: nowMs, updatedAt: nowMs };
}

async function insertAll(manager: EntityManager, subscriptions: readonly WebhookSubscription[]): Promise<void> {
  // In one order whoever inserts: two callers with the same types in another order must not deadlock.
  const rows = [...subscriptions].sort((a, b) => (a.eventType < b.eventType ? -1 : 1));
  const insert = manager.createQueryBuilder().insert().into(WebhookSubscriptionEntity).values(rows).orIgnore();
  // Without updateEntity(false) the n-th returned id is written into the n-th row given, though ignored ones return none.
  const inserted = await insert.returning('id').updateEntity(false).execute();
  const made = new Set((inserted.raw as { id: string }[]).map((row) => row.id));
  const taken = subscriptions.filter((subscription) => !made.has(subscription.id));
  if (taken.length > 0) throw new SubscriptionsTaken(taken.map((subscription) => subscription.eventType));
}

function lockRow(manager: EntityManager, ref: SubscriptionRef): Promise<WebhookSubscriptionEntity | null> {
  return manager.findOne(WebhookSubscriptionEntity, {
    where: { fleetId: ref.fleetId, id: ref.id },
    lock: { mode: 'pessimistic_write' },
  });
}

async function saveVersion(manager: EntityManager, changed: WebhookSubscription, nowMs: number) {
  const subscription = { ...changed, version: changed.version + 1, updatedAt: nowMs };
  const { id, ...columns } = subscription;
  await manager.update(WebhookSubscriptionEntity, { id }, columns);
  return { subscription, outboxIds: await appendToOutbox(manager, [published(subscription)], nowMs) };
}

function published(subscription: WebhookSubscription): OutboxEntry {
  return { kind: 'webhook-subscription', key: subscription.id, value: subscription };
}

function changesNothing(current: WebhookSubscription, change: SubscriptionChange): boolean {
  return Object.entries(change).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(current[field as keyof WebhookSubscription]),
  );
}

function stillSigning(
  secrets: readonly SealedSecret[],
  { oldSignsUntil, nowMs }: { oldSignsUntil: number; nowMs: number },
): SealedSecret[] {
  const live = secrets.filter((secret) => secret.expiresAt === null || secret.expiresAt > nowMs);
  return live.map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? oldSignsUntil }));
}

function earliestExpiry(secrets: readonly SealedSecret[]): number {
  return Math.min(...secrets.map((secret) => secret.expiresAt ?? Number.POSITIVE_INFINITY));
}

function sqlState(error: unknown): string | null {
  if (!(error instanceof QueryFailedError)) return null;
  const { code } = error.driverError as { code?: unknown };
  return typeof code === 'string' ? code : null;
}
