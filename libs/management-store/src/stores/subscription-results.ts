import type { WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import type { VersionMismatch } from './expected-versions.js';
import type { LimitReached } from './fleet-limits.js';

/** The fields that an update may replace. */
export type SubscriptionChange = Partial<
  Pick<
    WebhookSubscription,
    | 'url'
    | 'description'
    | 'metadata'
    | 'status'
    | 'payloadFormat'
    | 'deviceIds'
    | 'auth'
    | 'headers'
    | 'clientCertificate'
    | 'rateLimitPerSecond'
    | 'onOutage'
    | 'strictOrder'
  >
>;

export interface Changed {
  readonly type: 'changed';
  readonly subscription: WebhookSubscription;
  readonly outboxIds: readonly string[];
}

export interface NotFound {
  readonly type: 'not_found';
}

export type ChangeSubscriptionResult =
  | Changed
  /** The stored subscription already has these values: no new version. `outboxIds`: earlier changes that are on their way. */
  | {
      readonly type: 'unchanged';
      readonly subscription: WebhookSubscription;
      readonly outboxIds: readonly string[];
    }
  /** Another subscription has the event type and the URL; `id` is null when it was deleted at the same moment. */
  | { readonly type: 'conflict'; readonly id: string | null }
  /** The caller is limited to some subscriptions, and the change would add devices to one of them. */
  | { readonly type: 'adds_devices' }
  | LimitReached
  | VersionMismatch
  | NotFound;

export type RotateSecretResult =
  | Changed
  /** So many secrets still sign that another would make the signature header too long. `retryAt`: when one expires. */
  | { readonly type: 'too_many_secrets'; readonly retryAt: number }
  | VersionMismatch
  | NotFound;

export type DeleteSubscriptionResult =
  | { readonly type: 'deleted'; readonly outboxIds: readonly string[] }
  | VersionMismatch
  | NotFound;

export type DisableSubscriptionResult =
  | Changed
  /** It is not active, or was changed after the event, or the event is old. */
  | { readonly type: 'unchanged'; readonly subscription: WebhookSubscription }
  | NotFound;

export type SendTestResult =
  | { readonly type: 'queued'; readonly delivery: WebhookDelivery; readonly outboxIds: readonly string[] }
  | { readonly type: 'not_active'; readonly subscription: WebhookSubscription }
  | NotFound;
