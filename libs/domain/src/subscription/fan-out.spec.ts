import { describe, expect, it } from '@jest/globals';
import { eventOf, NOON, subscriptionOf } from '../../../../test/support/samples.js';
import { validSigningSecrets } from '../delivery/signature.js';
import { serializeEnvelope } from '../event/envelope.js';
import { eventId } from '../event/event-id.js';
import { serializeLegacyV1 } from '../event/legacy-v1.js';
import { decideFanOut, matchesSubscription } from './fan-out.js';

function idFor(subscriptionId: string, resourceId: string | null = null): string {
  return eventId({ ...eventOf(), subscriptionId, resourceId });
}

describe('matchesSubscription (R-16)', () => {
  it.each([
    ['every device', { deviceIds: null }],
    ['a list that names the device', { deviceIds: ['device-9', 'device-1'] }],
    ['a paused one, whose deliveries wait', { status: 'paused' }],
  ])('holds for %s', (_, fields) => expect(matchesSubscription(subscriptionOf(fields), eventOf())).toBe(true));

  it.each([
    ['a disabled one', { status: 'disabled' }],
    ['another fleet', { fleetId: 'fleet-2' }],
    ['another event type', { eventType: 'position_sleep' }],
    ['a list without the device', { deviceIds: ['device-11'] }],
    ['an empty list', { deviceIds: [] }],
  ])('does not hold for %s', (_, fields) => expect(matchesSubscription(subscriptionOf(fields), eventOf())).toBe(false));
});

describe('decideFanOut', () => {
  it('makes one delivery per subscription, each with its own id (R-12)', () => {
    const subscriptions = [subscriptionOf({ id: 'a' }), subscriptionOf({ id: 'c' })];
    const deliveries = [...decideFanOut(eventOf(), subscriptions, NOON + 5)];

    expect(deliveries.map((delivery) => [delivery.subscriptionId, delivery.eventId])).toEqual([
      ['a', idFor('a')],
      ['c', idFor('c')],
    ]);
  });

  it('freezes the body in the format of the subscription (R-15)', () => {
    const event = eventOf({ speedInKmh: 50, ignition: true });
    const [modern, legacy] = decideFanOut(
      event,
      [subscriptionOf({ id: 'a' }), subscriptionOf({ id: 'b', payloadFormat: 'legacy-v1' })],
      NOON + 5,
    );

    expect(modern).toEqual({
      eventId: idFor('a'),
      subscriptionId: 'a',
      fleetId: 'fleet-1',
      deviceId: 'device-1',
      eventType: 'position',
      eventTime: NOON,
      format: 'v1',
      body: serializeEnvelope(event, idFor('a')),
      createdAt: NOON + 5,
      series: 0,
      replayId: null,
    });
    expect(legacy).toMatchObject({ format: 'legacy-v1', body: serializeLegacyV1(event, idFor('b')) });
  });

  it('lets the resource of the event into the id', () => {
    const [delivery] = decideFanOut(eventOf({ resourceId: 'depot' }), [subscriptionOf({ id: 'a' })], NOON);

    expect(delivery?.eventId).toBe(idFor('a', 'depot'));
  });

  it('stops at a payload format that it does not know, rather than lose or mangle an event', () => {
    expect(() => [...decideFanOut(eventOf(), [subscriptionOf({ payloadFormat: 'v9' })], NOON)]).toThrow(
      expect.objectContaining({ code: 'unknown_payload_format' }),
    );
  });
});

describe('validSigningSecrets (R-17)', () => {
  const current = { sealed: 'current', expiresAt: null };
  const rotated = { sealed: 'rotated', expiresAt: NOON };

  it('are the current one and, until it expires, the one before, in their order', () => {
    expect(validSigningSecrets([current, rotated], NOON - 1)).toEqual([current, rotated]);
    expect(validSigningSecrets([current, rotated], NOON)).toEqual([current]);
  });
});
