import type { OperationalEvent, WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import type { ExpectedVersions, VersionMismatch } from './expected-versions.js';
import type { NewSubscription, SubscriptionChange } from './subscription.js';

/** Where a page of subscriptions goes on: the last one's place in the order of creation. */
export interface SubscriptionPosition {
  readonly createdAt: number;
  readonly id: string;
}

export interface SubscriptionQuery {
  readonly fleetId: string;
  readonly limit: number;
  /** null: from the oldest on. */
  readonly after: SubscriptionPosition | null;
}

/** The subscription that is there already; `id` is null when it went away in this moment. */
export interface TakenSubscription {
  readonly eventType: string;
  readonly id: string | null;
}

export type CreateSubscriptionsResult =
  | {
      readonly type: 'created';
      readonly subscriptions: readonly WebhookSubscription[];
      readonly outboxIds: readonly string[];
    }
  /** These event types already have a subscription to this URL; nothing was made. */
  | { readonly type: 'conflict'; readonly taken: readonly TakenSubscription[] }
  | { readonly type: 'fleet_not_found' };

export type ChangeSubscriptionResult =
  | { readonly type: 'changed'; readonly subscription: WebhookSubscription; readonly outboxIds: readonly string[] }
  /** The stored one is already so: no new version. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  /** Another subscription has the event type and the URL; `id` is null when it went away in this moment. */
  | { readonly type: 'conflict'; readonly id: string | null }
  | VersionMismatch
  | { readonly type: 'not_found' };

export type RotateSecretResult =
  | { readonly type: 'changed'; readonly subscription: WebhookSubscription; readonly outboxIds: readonly string[] }
  /** So many secrets still sign that another would make the signature header unreasonable. */
  | { readonly type: 'too_many_secrets'; readonly retryAt: number }
  | VersionMismatch
  | { readonly type: 'not_found' };

export type DeleteSubscriptionResult =
  | { readonly type: 'deleted'; readonly outboxIds: readonly string[] }
  | VersionMismatch
  | { readonly type: 'not_found' };

export type DisableSubscriptionResult =
  | { readonly type: 'changed'; readonly subscription: WebhookSubscription; readonly outboxIds: readonly string[] }
  /** It is not active, or was changed after the event. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  | { readonly type: 'not_found' };

export type SendTestResult =
  | { readonly type: 'queued'; readonly delivery: WebhookDelivery; readonly outboxIds: readonly string[] }
  | { readonly type: 'not_active'; readonly subscription: WebhookSubscription }
  | { readonly type: 'not_found' };

/** One subscription of one fleet: another fleet's id is simply not found. */
export interface SubscriptionRef {
  readonly fleetId: string;
  readonly id: string;
}

/** A new secret, sealed, and until when (epoch ms) the current one signs as well. */
export interface SecretRotation {
  readonly sealed: string;
  readonly oldSignsUntil: number;
  readonly nowMs: number;
}

/**
 * Webhook subscriptions. Every change and its outbox row are one SQL transaction; `version`
 * counts up. `nowMs` is the caller's clock. With `expected`, a change is made only to a version that the caller knows.
 */
export interface SubscriptionStore {
  /** Makes all or none; the result keeps the order given. */
  create(subscriptions: readonly NewSubscription[], nowMs: number): Promise<CreateSubscriptionsResult>;
  /** Oldest first. */
  list(query: SubscriptionQuery): Promise<readonly WebhookSubscription[]>;
  get(ref: SubscriptionRef): Promise<WebhookSubscription | null>;
  update(
    ref: SubscriptionRef,
    change: SubscriptionChange,
    nowMs: number,
    expected?: ExpectedVersions,
  ): Promise<ChangeSubscriptionResult>;
  delete(ref: SubscriptionRef, nowMs: number, expected?: ExpectedVersions): Promise<DeleteSubscriptionResult>;
  /** The current secret signs on until `oldSignsUntil` (epoch ms); expired ones are dropped. */
  rotateSecret(
    ref: SubscriptionRef,
    rotation: SecretRotation,
    expected?: ExpectedVersions,
  ): Promise<RotateSecretResult>;
  /** What an event of type `disabled` asks for (`mayDisable`). The same event again changes nothing. */
  disable(event: OperationalEvent, nowMs: number): Promise<DisableSubscriptionResult>;
  /** Queues the delivery that `make` gives for an active subscription. */
  sendTest(
    ref: SubscriptionRef,
    make: (subscription: WebhookSubscription) => WebhookDelivery,
    nowMs: number,
  ): Promise<SendTestResult>;
}
