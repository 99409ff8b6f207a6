import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOON } from '../../../../test/support/samples.js';
import { EVENT_ID_NAMESPACE, eventId, type EventIdentity, operationId } from './event-id.js';

const page = readFileSync(new URL('../../../../docs/reference/event-ids.md', import.meta.url), 'utf8');

/** The lines of the page's table of event ids that hold a vector: cells in backticks, field 6 possibly empty. */
const vectors = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
  .filter((cells) => cells.length === 7);

const identity: EventIdentity = {
  fleetId: 'fleet-1',
  subscriptionId: 'subscription-1',
  deviceId: 'device-1',
  eventType: 'position',
  eventTime: NOON,
};

describe('operationId', () => {
  it('stays what it was in earlier releases, so that an event published again counts once', () => {
    const id = operationId({ subscriptionId: 'subscription-1', type: 'disabled', about: '1714564800000' });

    expect(id).toBe('4912f431-b7b2-59bb-8697-27c4a31fa1f5');
  });
});

describe('eventId (R-12)', () => {
  it('finds the published vectors', () => {
    expect(vectors).toHaveLength(8);
    expect(page).toContain(`\`${EVENT_ID_NAMESPACE}\``);
  });

  it.each(vectors)('gives %s %s %s %s %s %s the published id %s', (...cells) => {
    const [fleetId = '', subscriptionId = '', deviceId = '', eventType = '', time = '', resource, published] = cells;
    const resourceId = resource === '' ? null : (resource ?? null);

    const id = eventId({ fleetId, subscriptionId, deviceId, eventType, eventTime: Date.parse(time), resourceId });

    expect(id).toBe(published);
  });

  it('takes an absent resourceId for null', () => {
    expect(eventId({ ...identity, resourceId: null })).toBe(eventId(identity));
  });

  it('is a UUID of version 5, whatever the fields', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (deviceId, eventTime) => {
        expect(eventId({ ...identity, deviceId, eventTime })).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  it('differs as soon as one field does, also where two neighbors read the same in a row', () => {
    const others: EventIdentity[] = [
      identity,
      { ...identity, fleetId: 'fleet-2' },
      { ...identity, subscriptionId: 'subscription-2' },
      { ...identity, deviceId: 'device-2' },
      { ...identity, eventType: 'position_sleep' },
      { ...identity, eventTime: NOON + 1 },
      { ...identity, resourceId: 'a' },
      { ...identity, fleetId: 'fleet-1s', subscriptionId: 'ubscription-1' },
    ];

    expect(new Set(others.map(eventId)).size).toBe(others.length);
  });
});
