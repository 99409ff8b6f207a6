import { FAILING_REPORT_VALID_MS } from '../delivery/outage-policy.js';
import type { OperationalEvent } from '../records/operational-event.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

/**
 * whether an event may disable the subscription. A later change by the owner wins. An old event may be read
 * twice, or after the endpoint has recovered: its sender repeats it while the endpoint only fails.
 */
export function mayDisable(
  subscription: Pick<WebhookSubscription, 'status' | 'updatedAt'>,
  { occurredAt }: Pick<OperationalEvent, 'occurredAt'>,
  nowMs: number,
): boolean {
  const isRecent = nowMs - occurredAt <= FAILING_REPORT_VALID_MS;
  return isRecent && subscription.status === 'active' && subscription.updatedAt <= occurredAt;
}
