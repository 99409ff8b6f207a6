import { type AvroCodecs, eventHeader, type EventPosition, topics, traceHeaders } from '@waypost/contracts';
import {
  decideFanOut,
  DomainError,
  type FleetEvent,
  isSampledTrace,
  traceOfDelivery,
  traceOfPing,
  type WebhookDelivery,
} from '@waypost/domain';
import type { Traces } from '@waypost/platform';
import { type OutgoingRecord, partitionForKey, StreamsError } from '@waypost/streams';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { spanOfDelivery } from './delivery-span.js';

export interface EventDeliveriesDeps {
  readonly codecs: Pick<AvroCodecs, 'webhookDeliveries'>;
  readonly directory: Pick<SubscriptionDirectory, 'matching'>;
  readonly metrics: Pick<DeliveryMetrics, 'deliveryCreated'>;
  readonly traces: Traces;
  readonly nowMs: () => number;
}

export interface ReadEvent {
  readonly event: FleetEvent;
  readonly position: EventPosition;
  /** The trace context of the event, as received; null: none. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** Epoch milliseconds; 0 without spans. */
  readonly readAt: number;
}

export interface DeliveryLog {
  readonly partitions: number;
  /** Whether a predecessor wrote the deliveries of the event. */
  hasWritten(eventId: string): boolean;
}

/**
 * Yields the records of an event for webhook.deliveries, each made on demand, for the subscriptions at the time of the
 * first one.
 * @throws StreamsError NEWER_VERSION: the partition waits for an upgrade rather than leave a delivery out
 */
export function* eventDeliveries(
  deps: EventDeliveriesDeps,
  read: ReadEvent,
  log: DeliveryLog,
): Generator<OutgoingRecord> {
  const { codecs, directory, metrics, traces, nowMs } = deps;
  const { event, tracestate, readAt } = read;
  // An event without a context belongs to the trace of its ping, which follows from the ids and the time of both.
  const ofEvent = read.traceparent ?? traceOfPing(event, null, traces.sampleRatio);
  const origin = eventHeader(read.position);
  const decided = decideFanOut(event, directory.matching(event), nowMs());
  for (const delivery of ofThisVersion(decided, read.position)) {
    if (log.hasWritten(delivery.eventId)) continue;
    metrics.deliveryCreated();
    const key = Buffer.from(delivery.subscriptionId);
    const partition = partitionForKey(key, log.partitions);
    const traceparent = traceOfDelivery(delivery, ofEvent, traces.sampleRatio);
    if (traces.recorder !== null && isSampledTrace(traceparent))
      traces.recorder.record(spanOfDelivery(delivery, { traceparent, ofEvent, partition, readAt }));
    yield {
      topic: topics.webhookDeliveries.name,
      partition,
      key,
      value: codecs.webhookDeliveries.encode(delivery),
      headers: [...traceHeaders(traceparent, tracestate), origin],
    };
  }
}

/** Names the event: its deliveries may be made when later events have been read already. */
function* ofThisVersion(deliveries: Iterable<WebhookDelivery>, { offset }: EventPosition): Generator<WebhookDelivery> {
  try {
    yield* deliveries;
  } catch (error) {
    if (error instanceof DomainError) throw new StreamsError('NEWER_VERSION', error.message, { cause: error, offset });
    throw error;
  }
}
