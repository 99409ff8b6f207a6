import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { sqlState, storableText, UNIQUE_VIOLATION } from '@waypost/database';
import {
  mayDisable,
  type OperationalEvent,
  type SealedSecret,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { createSubscriptions, type CreateSubscriptionsResult, type NewSubscription } from './create-subscriptions.js';
import { WebhookSubscriptionEntity } from './entities.js';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';
import { listPage, type ListQuery } from './list-page.js';
import { appendToOutbox } from './outbox.js';
import { lockSubscription, saveNextVersion, type SubscriptionRef } from './subscription-versions.js';

/** The fields that an update may replace. */
export type SubscriptionChange = Partial<
  Pick<
    WebhookSubscription,
    'url' | 'status' | 'payloadFormat' | 'deviceIds' | 'auth' | 'rateLimitPerSecond' | 'onOutage' | 'strictOrder'
  >
>;

interface Changed {
  readonly type: 'changed';
  readonly subscription: WebhookSubscription;
  readonly outboxIds: readonly string[];
}

interface NotFound {
  readonly type: 'not_found';
}

export type ChangeSubscriptionResult =
  | Changed
  /** The stored subscription already has these values: no new version. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  /** Another subscription has the event type and the URL; `id` is null when it was deleted at the same moment. */
  | { readonly type: 'conflict'; readonly id: string | null }
  | VersionMismatch
  | NotFound;

export type RotateSecretResult =
  | Changed
  /** So many secrets still sign that another would make the signature header too long. `retryAt`: when one expires. */
  | { readonly type: 'too_many_secrets'; readonly retryAt: number }
  | VersionMismatch
  | NotFound;

export type DeleteSubscriptionResult =
  { readonly type: 'deleted'; readonly outboxIds: readonly string[] } | VersionMismatch | NotFound;

export type DisableSubscriptionResult =
  | Changed
  /** It is not active, or was changed after the event. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  | NotFound;

export type SendTestResult =
  | { readonly type: 'queued'; readonly delivery: WebhookDelivery; readonly outboxIds: readonly string[] }
  | { readonly type: 'not_active'; readonly subscription: WebhookSubscription }
  | NotFound;

/** A new secret, sealed, and until when (epoch ms) the current one signs as well. */
export interface SecretRotation {
  readonly sealed: string;
  readonly oldSignsUntil: number;
  readonly nowMs: number;
}

const MAX_SECRETS = 8;

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
  create(drafts: readonly NewSubscription[], nowMs: number): Promise<CreateSubscriptionsResult> {
    return createSubscriptions(this.subscriptions.manager, drafts, nowMs);
  }

  /** Oldest first. */
  list(query: ListQuery): Promise<readonly WebhookSubscription[]> {
    return listPage(this.subscriptions, 'id', query);
  }

  get({ fleetId, id }: SubscriptionRef): Promise<WebhookSubscription | null> {
    return this.subscriptions.findOneBy({ fleetId, id });
  }

  async update(
    ref: SubscriptionRef,
    change: SubscriptionChange,
    nowMs: number,
    expected: ExpectedVersions = null,
  ): Promise<ChangeSubscriptionResult> {
    try {
      return await this.changeLocked(ref, expected, async (manager, current): Promise<ChangeSubscriptionResult> => {
        if (changesNothing(current, change)) return { type: 'unchanged', subscription: current };
        // An owner who switches a disabled subscription on or off has seen why it was disabled.
        const reason = change.status === undefined ? {} : { disabledReason: null };
        return { type: 'changed', ...(await saveNextVersion(manager, { ...current, ...change, ...reason }, nowMs)) };
      });
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      return { type: 'conflict', id: await this.findConflicting(ref, change) };
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
    ref: SubscriptionRef,
    rotation: SecretRotation,
    expected: ExpectedVersions = null,
  ): Promise<RotateSecretResult> {
    return this.changeLocked(ref, expected, async (manager, current): Promise<RotateSecretResult> => {
      const rotated = rotateSecrets(current.secrets, rotation);
      if (rotated.type === 'too_many_secrets') return rotated;
      const changed = { ...current, secrets: rotated.secrets };
      return { type: 'changed', ...(await saveNextVersion(manager, changed, rotation.nowMs)) };
    });
  }

  /**
   * Disables a subscription whose deliveries only fail, unless its owner has changed it since (`mayDisable`). Repeating the
   * same event changes nothing.
   */
  disable(event: OperationalEvent, nowMs: number): Promise<DisableSubscriptionResult> {
    const { subscriptionId: id, fleetId, reason } = event;
    return this.subscriptions.manager.transaction(async (manager): Promise<DisableSubscriptionResult> => {
      const current = await lockSubscription(manager, { fleetId, id });
      if (current === null) return { type: 'not_found' };
      if (!mayDisable(current, event)) return { type: 'unchanged', subscription: current };
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
    return this.subscriptions.manager.transaction(async (manager): Promise<SendTestResult> => {
      const subscription = await lockSubscription(manager, ref);
      if (subscription === null) return { type: 'not_found' };
      if (subscription.status !== 'active') return { type: 'not_active', subscription };
      const delivery = make(subscription);
      const entry = { kind: 'webhook-delivery', key: subscription.id, value: delivery } as const;
      return { type: 'queued', delivery, outboxIds: await appendToOutbox(manager, [entry], nowMs) };
    });
  }

  /** One transaction that holds the lock of the subscription, which exists and has an expected version. */
  private changeLocked<Result>(
    ref: SubscriptionRef,
    expected: ExpectedVersions,
    change: (manager: EntityManager, current: WebhookSubscription) => Promise<Result>,
  ): Promise<Result | VersionMismatch | NotFound> {
    return this.subscriptions.manager.transaction(async (manager): Promise<Result | VersionMismatch | NotFound> => {
      const current = await lockSubscription(manager, ref);
      if (current === null) return { type: 'not_found' };
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      return change(manager, current);
    });
  }

  /** The subscription that already has the event type and the URL; null when it has been deleted since. */
  private async findConflicting({ fleetId, id }: SubscriptionRef, { url }: SubscriptionChange): Promise<string | null> {
    const changing = url === undefined ? null : await this.subscriptions.findOneBy({ fleetId, id });
    if (url === undefined || changing === null) return null;
    const { eventType } = changing;
    const conflicting = await this.subscriptions.findOneBy({ fleetId, eventType, url });
    return conflicting?.id ?? null;
  }
}

function changesNothing(current: WebhookSubscription, change: SubscriptionChange): boolean {
  return Object.entries(change).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(current[field as keyof WebhookSubscription]),
  );
}

type RotatedSecrets =
  | { readonly type: 'rotated'; readonly secrets: readonly SealedSecret[] }
  | Extract<RotateSecretResult, { type: 'too_many_secrets' }>;

/** The new secret first, then those that still sign; expired ones are dropped. */
function rotateSecrets(
  secrets: readonly SealedSecret[],
  { sealed, oldSignsUntil, nowMs }: SecretRotation,
): RotatedSecrets {
  const old = secrets
    .filter((secret) => secret.expiresAt === null || secret.expiresAt > nowMs)
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? oldSignsUntil }));
  if (old.length >= MAX_SECRETS) {
    return { type: 'too_many_secrets', retryAt: Math.min(...old.map((secret) => secret.expiresAt)) };
  }
  return { type: 'rotated', secrets: [{ sealed, expiresAt: null }, ...old] };
}
