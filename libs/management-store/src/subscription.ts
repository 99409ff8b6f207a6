import type { WebhookSubscription } from '@waypost/domain';

/** What a caller decides of a new subscription; the store adds version and times. */
export type NewSubscription = Omit<
  WebhookSubscription,
  'version' | 'createdAt' | 'updatedAt' | 'status' | 'disabledReason'
>;

/** What an update may replace. */
export type SubscriptionChange = Partial<
  Pick<
    WebhookSubscription,
    'url' | 'status' | 'payloadFormat' | 'deviceIds' | 'auth' | 'rateLimitPerSecond' | 'onOutage' | 'strictOrder'
  >
>;
