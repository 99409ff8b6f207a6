import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, type Repository, type SelectQueryBuilder } from 'typeorm';
import { inAllFleets, inFleet, sqlState, storableText, UNIQUE_VIOLATION } from '@waypost/database';
import { mayDisable, type OperationalEvent, type WebhookDelivery, type WebhookSubscription } from '@waypost/domain';
import { WebhookSubscriptionEntity } from '../entities.js';
import { appendToOutbox, unpublishedChanges } from '../outbox/outbox.js';
import { createSubscriptions, type CreateSubscriptionsResult, type NewSubscription } from './create-subscriptions.js';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';
import {
  deviceIdCount,
  type FleetLimits,
  type LimitReached,
  NO_LIMITS,
  subscriptionLimitReached,
} from './fleet-limits.js';
import { lockFleet } from './fleet-store.js';
import { type Listed, listPage, type ListQuery } from './list-page.js';
import { rotateSecrets, type SecretRotation } from './rotate-secrets.js';
import type {
  Changed,
  ChangeSubscriptionResult,
  DeleteSubscriptionResult,
  DisableSubscriptionResult,
  NotFound,
  RotateSecretResult,
  SendTestResult,
  SubscriptionChange,
} from './subscription-results.js';
import {
  idWithin,
  lockSubscription,
  lockTargets,
  saveNextVersion,
  type SubscriptionRef,
  type SubscriptionTarget,
} from './subscription-versions.js';

/** A page of the subscriptions that match every given filter. */
export interface SubscriptionListQuery extends ListQuery {
  readonly status?: string | undefined;
  readonly eventType?: string | undefined;
  readonly url?: string | undefined;
  /** Part of the description, whatever its case. */
  readonly text?: string | undefined;
}

/**
 * Webhook subscriptions. Every change and its outbox row are one SQL transaction; `version` counts up.
 * `nowMs` is the caller's clock. With `expected`, only those versions are changed.
 */
@Injectable()
export class SubscriptionStore {
  constructor(
    @InjectRepository(WebhookSubscriptionEntity)
    private readonly subscriptions: Repository<WebhookSubscriptionEntity>,
  ) {}

  /** Creates all or none; the result keeps the given order. */
  create(
    drafts: readonly NewSubscription[],
    nowMs: number,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<CreateSubscriptionsResult> {
    return createSubscriptions(this.subscriptions.manager, drafts, nowMs, limits);
  }

  /** The filters are checked row by row: FleetLimits bound the rows of a fleet. */
  list({ text, status, eventType, url, ...page }: SubscriptionListQuery): Promise<Listed<WebhookSubscription>> {
    const narrow = (select: SelectQueryBuilder<WebhookSubscriptionEntity>): void => {
      for (const [column, value] of Object.entries({ status, eventType, url })) {
        if (value !== undefined) select.andWhere(`resource.${column} = :${column}`, { [column]: storableText(value) });
      }
      // Not LIKE: a text may hold its wildcards.
      if (text !== undefined) {
        select.andWhere('strpos(lower(resource.description), lower(:text)) > 0', { text: storableText(text) });
      }
    };
    return inFleet(this.subscriptions.manager, page.fleetId, (manager) =>
      listPage(manager.getRepository(WebhookSubscriptionEntity), 'id', page, narrow),
    );
  }

  /** Those of the ids that are subscriptions of the fleet. */
  async existing(fleetId: string, ids: readonly string[]): Promise<readonly string[]> {
    const found = await inFleet(this.subscriptions.manager, fleetId, (manager) =>
      manager.find(WebhookSubscriptionEntity, { select: { id: true }, where: { fleetId, id: In([...ids]) } }),
    );
    return found.map(({ id }) => id);
  }

  /** Counts those of all fleets. */
  countAll(): Promise<number> {
    return inAllFleets(this.subscriptions.manager, (manager) => manager.count(WebhookSubscriptionEntity));
  }

  get({ fleetId, id }: SubscriptionRef): Promise<WebhookSubscription | null> {
    return inFleet(this.subscriptions.manager, fleetId, (manager) =>
      manager.findOneBy(WebhookSubscriptionEntity, { fleetId, id }),
    );
  }

  /**
   * A target `within` some subscriptions loses devices but gains none: its caller sees no others of the fleet.
   *
   * @param changeOf the change of each subscription: what is sealed for one opens for no other
   */
  async update(
    target: SubscriptionTarget,
    changeOf: (subscriptionId: string) => SubscriptionChange,
    nowMs: number,
    expected: ExpectedVersions = null,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<ChangeSubscriptionResult> {
    try {
      return await this.changeLocked(target, expected, async (manager, current, all) => {
        const isLimited = (target.within ?? null) !== null;
        if (isLimited && all.some((one) => addsDevices(one, changeOf(one.id))))
          return { type: 'adds_devices' } as const;
        const changed = all.flatMap((subscription) => {
          const change = changeOf(subscription.id);
          // An owner who switches a disabled subscription on or off has seen why it was disabled.
          const seen = { ...change, ...(change.status === undefined ? {} : { disabledReason: null }) };
          return changesNothing(subscription, seen) ? [] : [{ ...subscription, ...seen }];
        });
        if (changed.length === 0) {
          const ids = all.map(({ id }) => id);
          const outboxIds = await unpublishedChanges(manager, 'webhook-subscription', ids);
          return { type: 'unchanged', subscription: current, outboxIds } as const;
        }
        const reached = await tooManyDeviceIds(manager, all, changed, limits);
        if (reached !== null) return reached;
        return saveAll(manager, current, changed, nowMs);
      });
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      return { type: 'conflict', id: await this.findConflicting(target, changeOf(target.id)) };
    }
  }

  delete(ref: SubscriptionRef, nowMs: number, expected: ExpectedVersions = null): Promise<DeleteSubscriptionResult> {
    return this.changeLocked(ref, expected, async (manager): Promise<DeleteSubscriptionResult> => {
      await manager.delete(WebhookSubscriptionEntity, { id: ref.id });
      const tombstone = { kind: 'webhook-subscription', key: ref.id, value: null } as const;
      return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
    });
  }

  /** The current secret keeps signing until `oldSignsUntil` (epoch ms); expired ones are dropped. */
  rotateSecret(
    target: SubscriptionTarget,
    rotation: SecretRotation,
    expected: ExpectedVersions = null,
  ): Promise<RotateSecretResult> {
    return this.changeLocked(target, expected, async (manager, current, all): Promise<RotateSecretResult> => {
      const changed: WebhookSubscription[] = [];
      for (const subscription of all) {
        const rotated = rotateSecrets(subscription, rotation);
        if (rotated.type === 'too_many_secrets') return rotated;
        changed.push({ ...subscription, secrets: rotated.secrets });
      }
      return saveAll(manager, current, changed, rotation.nowMs);
    });
  }

  /**
   * Disables a subscription whose deliveries only fail, unless the event is old or its owner has changed it since
   * (`mayDisable`). Repeating the same event changes nothing.
   */
  disable(event: OperationalEvent, nowMs: number): Promise<DisableSubscriptionResult> {
    const { subscriptionId: id, fleetId, reason } = event;
    // By a log that has all fleets: it must not wait for the turns of one.
    return inAllFleets(this.subscriptions.manager, async (manager): Promise<DisableSubscriptionResult> => {
      const current = await lockSubscription(manager, { fleetId, id });
      if (current === null) return { type: 'not_found' };
      if (!mayDisable(current, event, nowMs)) return { type: 'unchanged', subscription: current };
      const disabled = { ...current, status: 'disabled', disabledReason: storableText(reason) };
      return { type: 'changed', ...(await saveNextVersion(manager, disabled, nowMs)) };
    });
  }

  /** Queues the delivery that `make` returns for an active subscription: it is durable when this resolves. */
  sendTest(
    ref: SubscriptionRef,
    make: (subscription: WebhookSubscription) => WebhookDelivery,
    nowMs: number,
  ): Promise<SendTestResult> {
    return inFleet(this.subscriptions.manager, ref.fleetId, async (manager): Promise<SendTestResult> => {
      const subscription = await lockSubscription(manager, ref);
      if (subscription === null) return { type: 'not_found' };
      if (subscription.status !== 'active') return { type: 'not_active', subscription };
      const delivery = make(subscription);
      const entry = { kind: 'webhook-delivery', key: subscription.id, value: delivery } as const;
      return { type: 'queued', delivery, outboxIds: await appendToOutbox(manager, [entry], nowMs) };
    });
  }

  /**
   * One transaction that holds the locks of all subscriptions of the target. `current` is the named one, which exists and
   * has an expected version.
   */
  private changeLocked<Result>(
    target: SubscriptionTarget,
    expected: ExpectedVersions,
    change: (
      manager: EntityManager,
      current: WebhookSubscription,
      all: readonly WebhookSubscription[],
    ) => Promise<Result>,
  ): Promise<Result | VersionMismatch | NotFound> {
    const changed = async (manager: EntityManager): Promise<Result | VersionMismatch | NotFound> => {
      const all = await lockTargets(manager, target);
      const current = all.find(({ id }) => id === target.id);
      if (current === undefined) return { type: 'not_found' };
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      return change(manager, current, all);
    };
    return inFleet(this.subscriptions.manager, target.fleetId, changed);
  }

  /** A subscription that already has the URL and the event type of one that moves there; null: it was deleted since. */
  private findConflicting(
    { fleetId, id, scope, within = null }: SubscriptionTarget,
    { url }: SubscriptionChange,
  ): Promise<string | null> {
    return inFleet(this.subscriptions.manager, fleetId, async (manager) => {
      const subscriptions = manager.getRepository(WebhookSubscriptionEntity);
      const named = await subscriptions.findOneBy({ fleetId, id });
      if (url === undefined || named === null) return null;
      const moving =
        scope === 'url' ? await subscriptions.findBy({ fleetId, url: named.url, ...idWithin(within) }) : [named];
      const eventType = In(moving.map((subscription) => subscription.eventType));
      const conflicting = await subscriptions.findOneBy({ fleetId, eventType, url });
      return conflicting?.id ?? null;
    });
  }
}

async function tooManyDeviceIds(
  manager: EntityManager,
  all: readonly WebhookSubscription[],
  changed: readonly WebhookSubscription[],
  limits: FleetLimits,
): Promise<LimitReached | null> {
  const ids = new Set(changed.map(({ id }) => id));
  const deviceIds = deviceIdCount(changed) - deviceIdCount(all.filter(({ id }) => ids.has(id)));
  const fleetId = changed[0]?.fleetId;
  if (deviceIds <= 0 || fleetId === undefined) return null;
  await lockFleet(manager, fleetId);
  return subscriptionLimitReached(manager, fleetId, { subscriptions: 0, deviceIds }, limits);
}

/** Saves the next version of each; the result shows the named one, which may be unchanged. */
async function saveAll(
  manager: EntityManager,
  named: WebhookSubscription,
  changed: readonly WebhookSubscription[],
  nowMs: number,
): Promise<Changed> {
  let subscription = named;
  const outboxIds: string[] = [];
  for (const one of changed) {
    const saved = await saveNextVersion(manager, one, nowMs);
    outboxIds.push(...saved.outboxIds);
    if (one.id === named.id) ({ subscription } = saved);
  }
  return { type: 'changed', subscription, outboxIds };
}

function addsDevices({ deviceIds: current }: WebhookSubscription, { deviceIds: wanted }: SubscriptionChange): boolean {
  if (wanted === undefined || current === null) return false;
  if (wanted === null) return true;
  const known = new Set(current);
  return wanted.some((id) => !known.has(id));
}

function changesNothing(current: WebhookSubscription, change: Partial<WebhookSubscription>): boolean {
  return Object.entries(change).every(([field, value]) =>
    isDeepStrictEqual(value, current[field as keyof WebhookSubscription]),
  );
}
