import { describe, expect, it } from '@jest/globals';
import { attemptOf, NOON } from '../../../../test/support/samples.js';
import type { WebhookAttempt } from '../records/webhook-attempt.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import { MAX_TIME_MS } from '../time/instant.js';
import { attemptFault, deliveryFault, eventFault, isFoldable, waitingFault } from './unusable-records.js';

const MAX_INT = 2 ** 31 - 1;
const DAY_AHEAD = NOON + 86_400_000;
/** A field, values at its bounds that can be used, and the values next to them that cannot. */
type Row<T> = readonly [field: keyof T & string, usable: readonly unknown[], unusable: readonly unknown[]];

const COUNT = [
  [0, MAX_INT],
  [-1, MAX_INT + 1],
] as const;
const TIME = [
  [0, MAX_TIME_MS],
  [-1, MAX_TIME_MS + 1],
] as const;
const UUID = [
  ['5e3bd1a6-7f6f-5a53-9c2f-0a54e4d5b0c1', '5E3BD1A6-7F6F-5A53-9C2F-0A54E4D5B0C1'],
  ['', 'event-1', '5e3bd1a6-7f6f-5a53-9c2f-0a54e4d5b0c', '5e3bd1a6-7f6f-5a53-9c2f-0a54e4d5b0c1\n'],
] as const;

const ATTEMPT: readonly Row<WebhookAttempt>[] = [
  ['eventId', ...UUID],
  ['format', ['', 'v1'], ['\0', 'v1\0']],
  ['series', ...COUNT],
  ['attempt', ...COUNT],
  ['probes', [0, 5], [-1, 2 ** 31 - 1, 2 ** 31]],
  ['statusCode', [null, ...COUNT[0]], COUNT[1]],
  ['eventTime', ...TIME],
  ['deliveryCreatedAt', ...TIME],
  ['dueAt', ...TIME],
  ['startedAt', ...TIME],
  ['firstAttemptAt', [0, DAY_AHEAD], [-1, DAY_AHEAD + 1]],
  ['nextDueAt', [null, ...TIME[0]], TIME[1]],
  ['durationMs', ...TIME],
];

const WAITING: readonly Row<WebhookDelivery>[] = [
  ['eventId', ...UUID],
  ['series', ...COUNT],
  ['eventTime', ...TIME],
  ['createdAt', [0, DAY_AHEAD], [-1, DAY_AHEAD + 1]],
];

function deliveryOf(fields: Partial<WebhookDelivery> = {}): WebhookDelivery {
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId } = attemptOf();
  const frozen = { body: '{}', createdAt: NOON };
  return {
    ...{ eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId },
    ...frozen,
    ...fields,
  };
}

function invalid(field: string) {
  return { reason: 'invalid_field', detail: `${field} is out of range` };
}

describe('a record that cannot be used (R-2)', () => {
  it.each(ATTEMPT)('is an attempt with %s beyond its bounds', (field, usable, unusable) => {
    for (const value of usable) expect(attemptFault({ ...attemptOf(), [field]: value }, NOON)).toBeNull();
    for (const value of unusable)
      expect(attemptFault({ ...attemptOf(), [field]: value }, NOON)).toEqual(invalid(field));
  });

  it.each(WAITING)('is a delivery without an attempt with %s beyond its bounds', (field, usable, unusable) => {
    for (const value of usable) expect(waitingFault({ ...deliveryOf(), [field]: value }, NOON)).toBeNull();
    for (const value of unusable)
      expect(waitingFault({ ...deliveryOf(), [field]: value }, NOON)).toEqual(invalid(field));
  });

  it.each(['eventTime', 'locationTime', 'enteredAt', 'startTime', 'endTime'])(
    'is an event with %s that cannot be written',
    (field) => {
      const event = { eventTime: NOON, locationTime: null, enteredAt: null, startTime: null, endTime: null };
      for (const time of TIME[0]) expect(eventFault({ ...event, [field]: time })).toBeNull();
      for (const time of TIME[1]) expect(eventFault({ ...event, [field]: time })).toEqual(invalid(field));
    },
  );

  it('is an attempt with a number or time from which no next attempt follows (R-25)', () => {
    expect(isFoldable(attemptOf({ eventId: 'sent all the same' }))).toBe(true);
    for (const unusable of [
      { attempt: -5 },
      { attempt: 0 },
      { probes: -1 },
      { nextDueAt: MAX_TIME_MS + 1 },
      { startedAt: -1 },
    ])
      expect(isFoldable(attemptOf(unusable))).toBe(false);
  });

  it('is a delivery whose event id is no value of a header', () => {
    const { subscriptionId } = deliveryOf();
    for (const eventId of ['!', '~'.repeat(200)]) {
      expect(deliveryFault(deliveryOf({ eventId }), subscriptionId)).toBeNull();
    }
    for (const eventId of ['', 'x'.repeat(201), 'a b', 'a\nb', '\u007f', 'é']) {
      expect(deliveryFault(deliveryOf({ eventId }), subscriptionId)).toEqual(invalid('eventId'));
    }
  });

  it('is a delivery under the key of another subscription', () => {
    expect(deliveryFault(deliveryOf(), 'another')).toMatchObject({ reason: 'key_mismatch' });
  });
});
