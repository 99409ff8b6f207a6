import { describe, expect, it } from '@jest/globals';
import { eventOf } from '../../../../test/support/samples.js';
import { serialiseEnvelope } from './envelope.js';
import { EVENT_TYPES, isEventType } from './event-type.js';
import { serialiseLegacyV1 } from './legacy-v1.js';
import { isPayloadFormat, payloadFormatOf, serialiseBody } from './payload-format.js';

describe('payload formats', () => {
  it('each have a serialiser of their own', () => {
    expect(serialiseBody('v1', eventOf(), 'id')).toBe(serialiseEnvelope(eventOf(), 'id'));
    expect(serialiseBody('legacy-v1', eventOf(), 'id')).toBe(serialiseLegacyV1(eventOf(), 'id'));
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
