import { consumerGroups, topics, type AvroCodecs } from '@waypost/contracts';
import type { Topology } from '@waypost/streams';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { createFanOutProcessor } from './fan-out.processor.js';

export interface FanOutParts {
  readonly codecs: AvroCodecs;
  readonly directory: SubscriptionDirectory;
  readonly metrics: DeliveryMetrics;
}

/**
 * fleet.events x subscriptions -> webhook.deliveries. Deliveries go by the key of their subscription, so a partition of
 * webhook.deliveries has several writers, and a subscription has one sender.
 */
export const fanOutTopology = (parts: FanOutParts): Topology => ({
  applicationId: consumerGroups.fanOut.id,
  source: topics.fleetEvents.name,
  sinks: { deliveries: { topic: topics.webhookDeliveries.name, partitioner: 'key' } },
  processor: (context) => createFanOutProcessor({ ...parts, context }),
});
