import { type EntityManager, In } from 'typeorm';
import type { WebhookSubscription } from '@waypost/domain';
import { WebhookSubscriptionEntity } from '../entities.js';
import { appendToOutbox } from '../outbox/outbox.js';

/** One subscription of one fleet: another fleet's id is not found. */
export interface SubscriptionRef {
  readonly fleetId: string;
  readonly id: string;
}

/** No other transaction changes it before this one ends: versions and their outbox rows stay in order. */
export function lockSubscription(
  manager: EntityManager,
  { fleetId, id }: SubscriptionRef,
): Promise<WebhookSubscription | null> {
  return manager.findOne(WebhookSubscriptionEntity, { where: { fleetId, id }, lock: { mode: 'pessimistic_write' } });
}

/** `url`: also all other subscriptions of the fleet at the same URL. Default: `subscription`. */
export interface SubscriptionTarget extends SubscriptionRef {
  readonly scope?: 'subscription' | 'url';
  /** Limits `url` to those of them that have one of these ids. null or absent: all. */
  readonly within?: readonly string[] | null;
}

/** Empty when there is no such subscription. */
export async function lockTargets(
  manager: EntityManager,
  { fleetId, id, scope, within = null }: SubscriptionTarget,
): Promise<WebhookSubscription[]> {
  if (scope !== 'url') {
    const named = await lockSubscription(manager, { fleetId, id });
    return named === null ? [] : [named];
  }
  for (;;) {
    const named = await manager.findOneBy(WebhookSubscriptionEntity, { fleetId, id });
    if (named === null) return [];
    const locked = await manager.find(WebhookSubscriptionEntity, {
      where: { fleetId, url: named.url, ...idWithin(within) },
      // All callers lock in the same order.
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    // While this waited for the locks, it may have moved to another URL.
    if (locked.some((one) => one.id === id)) return locked;
  }
}

/** The condition that limits a target to some subscriptions. */
export function idWithin(within: readonly string[] | null): { readonly id?: ReturnType<typeof In> } {
  return within === null ? {} : { id: In([...within]) };
}

/** Saves a changed subscription as its next version. The caller holds its lock. */
export async function saveNextVersion(
  manager: EntityManager,
  changed: WebhookSubscription,
  nowMs: number,
): Promise<{ subscription: WebhookSubscription; outboxIds: string[] }> {
  const subscription = { ...changed, version: changed.version + 1, updatedAt: nowMs };
  const { id, ...columns } = subscription;
  await manager.update(WebhookSubscriptionEntity, { id }, columns);
  return { subscription, outboxIds: await appendVersions(manager, [subscription], nowMs) };
}

/** Appends versions to the outbox, in the transaction that makes them. */
export function appendVersions(
  manager: EntityManager,
  subscriptions: readonly WebhookSubscription[],
  nowMs: number,
): Promise<string[]> {
  const entries = subscriptions.map(
    (subscription) => ({ kind: 'webhook-subscription', key: subscription.id, value: subscription }) as const,
  );
  return appendToOutbox(manager, entries, nowMs);
}
