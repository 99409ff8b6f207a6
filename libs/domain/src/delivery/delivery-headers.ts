import { TRACEPARENT } from '../trace/trace-context.js';
import { TRACESTATE } from '../trace/trace-state.js';

/** the headers of a delivery other than those of its body and its connection. */
export const DELIVERY_HEADER = {
  signature: 'x-service-signature',
  eventId: 'x-service-event-id',
  subscriptionId: 'x-service-subscription-id',
  attempt: 'x-service-attempt',
  traceparent: TRACEPARENT,
  tracestate: TRACESTATE,
  webhookId: 'webhook-id',
  webhookTimestamp: 'webhook-timestamp',
  webhookSignature: 'webhook-signature',
  authorization: 'authorization',
} as const;

export type DeliveryHeaderName = (typeof DELIVERY_HEADER)[keyof typeof DELIVERY_HEADER];
