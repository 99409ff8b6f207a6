import { MAX_TRACESTATE_LENGTH } from '@waypost/domain';
import type { JsonSchema } from './json-schema.js';

export interface DeliveryHeader {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Absent: in every delivery. */
  readonly isOptional?: true;
}

/** The headers of a delivery beside those of HTTP, by name. */
export const DELIVERY_HEADERS: Readonly<Record<string, DeliveryHeader>> = {
  'x-service-signature': {
    description: '`t=<unix seconds>`, then one `v1=<hex HMAC-SHA256 of "<t>.<body>">` for each valid secret.',
    schema: { type: 'string' },
  },
  'x-service-event-id': { description: 'The event id.', schema: { type: 'string', format: 'uuid' } },
  'x-service-subscription-id': {
    description: 'The subscription that it is for.',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-service-attempt': { description: 'Which attempt it is.', schema: { type: 'integer', minimum: 1, maximum: 5 } },
  traceparent: {
    description: 'The trace context of this attempt (W3C): in the trace of the ping, where the producer sent one.',
    schema: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$' },
  },
  tracestate: {
    description: 'The `tracestate` of the ping (W3C), where its producer sent one beside its trace context.',
    schema: { type: 'string', pattern: `^.{1,${String(MAX_TRACESTATE_LENGTH)}}$` },
    isOptional: true,
  },
  'webhook-id': { description: 'The event id.', schema: { type: 'string' } },
  'webhook-timestamp': { description: 'Unix seconds of this attempt.', schema: { type: 'integer' } },
  'webhook-signature': { description: 'As Standard Webhooks says.', schema: { type: 'string' } },
  authorization: {
    description: 'Bearer, when the subscription asks for it.',
    schema: { type: 'string' },
    isOptional: true,
  },
};
