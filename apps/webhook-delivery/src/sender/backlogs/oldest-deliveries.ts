import type { OldestDelivery } from '../../metrics/backlog-metrics.js';
import type { SubscriptionBacklog } from './subscription-backlog.js';

interface OldestDeliveriesOptions {
  /** Epoch ms. */
  readonly createdBefore: number;
  /** Whether the owner paused it. A subscription that this process cannot read does not count: its deliveries expire by accident. */
  readonly wasPaused: (subscriptionId: string) => boolean;
}

/**
 * Yields the oldest delivery of each subscription that its owner has not paused. It expires if it is not sent in
 * time, even while its endpoint is suspended.
 */
export function* oldestDeliveries(
  backlogs: Iterable<SubscriptionBacklog>,
  { createdBefore, wasPaused }: OldestDeliveriesOptions,
): Iterable<OldestDelivery> {
  for (const backlog of backlogs) {
    const delivery = backlog.first()?.delivery;
    if (delivery === undefined || delivery.createdAt >= createdBefore || wasPaused(backlog.subscriptionId)) continue;
    yield delivery;
  }
}
