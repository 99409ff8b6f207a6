import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchesSubscription, type WebhookSubscription } from '@waypost/domain';
import { eventOf, subscriptionOf } from '../../../../test/support/samples.js';
import { createSubscriptionIndex } from './subscription-directory.js';

const FLEETS = ['fleet-1', 'fleet-2'];
const EVENT_TYPES = ['position', 'ignition_on'];
const DEVICES = 150;

function deviceIds(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `device-${String((from + n) % DEVICES)}`);
}

const id = fc.integer({ min: 1, max: 20 }).map((n) => `subscription-${String(n)}`);
const version = fc.record({
  id,
  fleetId: fc.constantFrom(...FLEETS),
  eventType: fc.constantFrom(...EVENT_TYPES),
  status: fc.constantFrom('active', 'paused', 'disabled'),
  deviceIds: fc.option(fc.tuple(fc.nat(DEVICES), fc.nat(DEVICES)).map(([from, count]) => deviceIds(from, count))),
});
const change = fc.oneof({ weight: 4, arbitrary: version }, { weight: 1, arbitrary: fc.record({ removed: id }) });

const everyEvent = FLEETS.flatMap((fleetId) =>
  EVENT_TYPES.flatMap((eventType) =>
    deviceIds(0, DEVICES).map((deviceId) => eventOf({ fleetId, eventType, deviceId })),
  ),
);

describe('the directory of subscriptions', () => {
  it('keeps nothing in memory that delivering does not need (R-16)', () => {
    const index = createSubscriptionIndex();
    const subscription = subscriptionOf({ description: 'Gate', metadata: { team: 'yard' }, deviceIds: ['device-1'] });
    index.put(subscription);
    const { description, metadata, deviceIds, ...needed } = subscription;
    expect(index.get(subscription.id)).toEqual(needed);
    expect([description, metadata, deviceIds]).toEqual(['Gate', { team: 'yard' }, ['device-1']]);
  });
});

describe('the subscriptions that an event matches (R-16)', () => {
  it('do not depend on another that named devices once, and is changed again', () => {
    const index = createSubscriptionIndex();
    const event = eventOf({ deviceId: 'device-1' });
    const { fleetId, eventType } = event;
    const put = (name: string, number: number, named: string[] | null) =>
      index.put(subscriptionOf({ id: name, version: number, fleetId, eventType, deviceIds: named }));
    put('changing', 1, []);
    put('changing', 2, null);
    put('other', 1, ['device-1']);
    put('changing', 3, null);
    expect(
      index
        .matching(event)
        .map((found) => found.id)
        .sort(),
    ).toEqual(['changing', 'other']);
  });

  it('are those of a linear scan, after any creations, changes and deletions', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 150 }), (changes) => {
        // With a single shard, a few thousand device ids are already merged many times.
        const index = createSubscriptionIndex(1);
        const model = new Map<string, WebhookSubscription>();
        for (const [n, one] of changes.entries()) {
          if ('removed' in one) {
            index.remove(one.removed);
            model.delete(one.removed);
          } else {
            const subscription = subscriptionOf({ ...one, version: n + 1 });
            index.put(subscription);
            model.set(one.id, subscription);
          }
        }
        for (const event of everyEvent) {
          const scanned = [...model.values()].filter((subscription) => matchesSubscription(subscription, event));
          const found = index.matching(event).map((subscription) => subscription.id);
          expect(found.sort()).toEqual(scanned.map((subscription) => subscription.id).sort());
        }
      }),
      { numRuns: 40 },
    );
  });

  it('name a device once, though its id is in the list twice', () => {
    const index = createSubscriptionIndex();
    index.put(subscriptionOf({ deviceIds: ['device-1', 'device-1'] }));
    expect(index.matching(eventOf())).toHaveLength(1);
  });

  it('differ by every character of a device id', () => {
    const index = createSubscriptionIndex();
    const ids = ['', '\u0000', 'a', 'a\u0000', 'aa', 'aé', 'éa', 'a\ud83d', 'a'.repeat(255), 'a'.repeat(256)];
    for (const [n, deviceId] of ids.entries()) index.put(subscriptionOf({ id: String(n), deviceIds: [deviceId] }));
    expect(ids.map((deviceId) => index.matching(eventOf({ deviceId })).map((one) => one.id))).toEqual(
      ids.map((_, n) => [String(n)]),
    );
  });

  it('stay as they are when an older version is read again', () => {
    const index = createSubscriptionIndex();
    index.put(subscriptionOf({ version: 2, deviceIds: ['device-1'] }));
    index.put(subscriptionOf({ version: 1, deviceIds: ['device-2'] }));
    expect(index.matching(eventOf({ deviceId: 'device-1' }))).toHaveLength(1);
    expect(index.matching(eventOf({ deviceId: 'device-2' }))).toEqual([]);
  });
});
