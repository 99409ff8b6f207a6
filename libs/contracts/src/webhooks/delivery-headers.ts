import { DELIVERY_HEADER, type DeliveryHeaderName, MAX_ATTEMPTS, MAX_TRACESTATE_LENGTH } from '@waypost/domain';
import type { JsonSchema } from './json-schema.js';

export interface DeliveryHeader {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Absent: the header is in every delivery. */
  readonly isOptional?: true;
}

/** What the headers of a delivery mean, by name, as published. */
export const DELIVERY_HEADERS: Readonly<Record<DeliveryHeaderName, DeliveryHeader>> = {
  [DELIVERY_HEADER.signature]: {
    description: '`t=<unix seconds>`, then one `v1=<hex HMAC-SHA256 of "<t>.<body>">` for each valid secret.',
    schema: { type: 'string' },
  },
  [DELIVERY_HEADER.eventId]: { description: 'The event id.', schema: { type: 'string', format: 'uuid' } },
  [DELIVERY_HEADER.subscriptionId]: {
    description: 'The subscription that it is for.',
    schema: { type: 'string', format: 'uuid' },
  },
  [DELIVERY_HEADER.attempt]: {
    description: 'Which attempt it is.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_ATTEMPTS },
  },
  [DELIVERY_HEADER.traceparent]: {
    description: 'The trace context of this attempt (W3C): in the trace of the ping, where the producer sent one.',
    schema: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$' },
  },
  [DELIVERY_HEADER.tracestate]: {
    description: 'The `tracestate` of the ping (W3C), where its producer sent one beside its trace context.',
    schema: { type: 'string', pattern: `^.{1,${String(MAX_TRACESTATE_LENGTH)}}$` },
    isOptional: true,
  },
  [DELIVERY_HEADER.webhookId]: { description: 'The event id.', schema: { type: 'string' } },
  [DELIVERY_HEADER.webhookTimestamp]: { description: 'Unix seconds of this attempt.', schema: { type: 'integer' } },
  [DELIVERY_HEADER.webhookSignature]: { description: 'As Standard Webhooks says.', schema: { type: 'string' } },
  [DELIVERY_HEADER.authorization]: {
    description: 'Bearer, when the subscription asks for it.',
    schema: { type: 'string' },
    isOptional: true,
  },
};
