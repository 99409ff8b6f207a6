import { consumerGroups, topics } from '@waypost/contracts';
import { createTopology } from '@waypost/streams';
import { createFanOutProcessor, type FanOutParts } from './fan-out.processor.js';

/**
 * fleet.events x subscriptions -> webhook.deliveries. Deliveries go by the key of their subscription, so a partition of
 * webhook.deliveries has several writers, and a subscription has one sender.
 */
export const fanOutTopology = (parts: FanOutParts) =>
  createTopology({
    applicationId: consumerGroups.fanOut.id,
    source: topics.fleetEvents.name,
    sinks: { deliveries: { topic: topics.webhookDeliveries.name, partitioner: 'key' } },
    processor: (context) => createFanOutProcessor({ ...parts, context }),
  });
