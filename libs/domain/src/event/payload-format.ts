import { DomainError } from '../domain-error.js';
import type { FleetEvent } from '../records/fleet-event.js';
import { serializeEnvelope } from './envelope.js';
import { serializeLegacyV1 } from './legacy-v1.js';

export const PAYLOAD_FORMATS = ['v1', 'legacy-v1'] as const;

export type PayloadFormat = (typeof PAYLOAD_FORMATS)[number];

const serializers: Readonly<Record<PayloadFormat, (event: FleetEvent, eventId: string) => string>> = {
  v1: serializeEnvelope,
  'legacy-v1': serializeLegacyV1,
};

export function isPayloadFormat(text: string): text is PayloadFormat {
  return (PAYLOAD_FORMATS as readonly string[]).includes(text);
}

/** @throws DomainError `unknown_payload_format`: only a newer version can write it */
export function payloadFormatOf(text: string): PayloadFormat {
  if (isPayloadFormat(text)) return text;
  const known = PAYLOAD_FORMATS.join(', ');
  throw new DomainError(
    'unknown_payload_format',
    `Payload format "${text}" is none of ${known}: start a version that knows it.`,
  );
}

/** the exact text that is signed, sent, stored and returned. */
export function serializeBody(format: PayloadFormat, event: FleetEvent, eventId: string): string {
  return serializers[format](event, eventId);
}
