/** Known values of `WebhookSubscription.status`, which is text: a newer version may know more. */
export const SUBSCRIPTION_STATUSES = ['active', 'paused', 'disabled'] as const;
