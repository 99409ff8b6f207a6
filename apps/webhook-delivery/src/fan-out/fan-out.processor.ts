import { resolveBatch, type AvroCodecs } from '@waypost/contracts';
import { decideFanOut } from '@waypost/domain';
import { StreamsError, type NoStores, type Processor, type ProcessorContext } from '@waypost/streams';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';

export interface FanOutParts {
  readonly codecs: AvroCodecs;
  readonly directory: SubscriptionDirectory;
  readonly metrics: DeliveryMetrics;
}

/** One delivery for each subscription that an event matches, its body frozen here and never written again. */
export const createFanOutProcessor = (
  parts: FanOutParts & { readonly context: ProcessorContext<NoStores, 'deliveries'> },
): Processor => {
  const { context, codecs, directory, metrics } = parts;
  return {
    // A subscription that was acknowledged before an event must get it: the table is read to its end first.
    prepare: async (records) => {
      await Promise.all([resolveBatch(codecs.fleetEvents, records), directory.caughtUp()]);
    },
    process: ({ value }) => {
      const decoded = value && codecs.fleetEvents.decode(value);
      if (decoded?.type !== 'decoded') {
        throw new StreamsError(
          'CORRUPT_STATE',
          `An event of our own log cannot be read: ${decoded?.type ?? 'no value'}.`,
        );
      }
      const event = decoded.value;
      const deliveries = decideFanOut(event, directory.candidates(event.fleetId, event.eventType), context.now());
      for (const delivery of deliveries) {
        metrics.deliveryCreated();
        context.forward('deliveries', {
          key: Buffer.from(delivery.subscriptionId),
          value: codecs.webhookDeliveries.encode(delivery),
        });
      }
    },
  };
};
