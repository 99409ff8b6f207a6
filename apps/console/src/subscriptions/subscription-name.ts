import type { Subscription } from '@waypost/client';

/** `position → https://example.com/hooks` */
export function subscriptionName({ eventType, url }: Pick<Subscription, 'eventType' | 'url'>): string {
  return `${eventType} → ${url}`;
}
