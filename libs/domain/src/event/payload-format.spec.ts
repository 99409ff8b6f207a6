import { describe, expect, it } from '@jest/globals';
import { eventOf } from '../../../../test/support/samples.js';
import { serializeEnvelope } from './envelope.js';
import { EVENT_TYPES, isEventType } from './event-type.js';
import { serializeLegacyV1 } from './legacy-v1.js';
import { isPayloadFormat, payloadFormatOf, serializeBody } from './payload-format.js';

describe('payload formats', () => {
  it('each have a serializer of their own', () => {
    expect(serializeBody('v1', eventOf(), 'id')).toBe(serializeEnvelope(eventOf(), 'id'));
    expect(serializeBody('legacy-v1', eventOf(), 'id')).toBe(serializeLegacyV1(eventOf(), 'id'));
  });

  it.each(['v2', 'V1', '', 'toString'])('do not include "%s"', (text) => {
    expect(isPayloadFormat(text)).toBe(false);
    expect(() => payloadFormatOf(text)).toThrow(expect.objectContaining({ code: 'unknown_payload_format' }));
  });
});

describe('event types', () => {
  it.each(EVENT_TYPES)('include %s', (eventType) => expect(isEventType(eventType)).toBe(true));

  it.each(['Position', 'position ', '', 'toString'])('do not include "%s"', (text) => {
    expect(isEventType(text)).toBe(false);
  });
});
