import type { EventType } from '@waypost/domain';
import { createRandom, uuidOf } from './random.js';

/** How the receiver of a subscription answers. */
export type Receiver =
  | { readonly type: 'accepts'; readonly statusCode: number }
  /** Each attempt fails: 503, or no answer in time. */
  | { readonly type: 'dead' };

export interface Subscription {
  readonly subscriptionId: string;
  readonly eventType: EventType;
  readonly url: string;
  readonly receiver: Receiver;
  /** Part of the fleet's deliveries. */
  readonly share: number;
}

export interface Fleet {
  readonly fleetId: string;
  /** Part of all deliveries. */
  readonly share: number;
  readonly devices: number;
  readonly subscriptions: readonly Subscription[];
}

export const FLEETS = 500;
const DEVICES = 20_000;

/** A subscription names one event type; two have the positions, so that what they answer differs. */
const SUBSCRIPTIONS: readonly { eventType: EventType; share: number; statusCode: number }[] = [
  { eventType: 'position', share: 0.4, statusCode: 200 },
  { eventType: 'position', share: 0.25, statusCode: 204 },
  { eventType: 'position_sleep', share: 0.1, statusCode: 202 },
  { eventType: 'ignition_on', share: 0.1, statusCode: 200 },
  { eventType: 'ignition_off', share: 0.1, statusCode: 200 },
  { eventType: 'geofence_in', share: 0.05, statusCode: 201 },
];

/** Of these fleets, counted from the largest, the second receiver of positions is dead. */
const FLEETS_WITH_A_DEAD_RECEIVER: readonly number[] = [1, 4, 9];

/** The n-th fleet has an n-th of the deliveries of the first: of 500, the first has 15 %. */
export function createFleets(): readonly Fleet[] {
  const random = createRandom(1);
  const total = Array.from({ length: FLEETS }, (_, index) => 1 / (index + 1)).reduce((sum, part) => sum + part, 0);
  return Array.from({ length: FLEETS }, (_, index) => {
    const share = 1 / (index + 1) / total;
    const number = String(index + 1).padStart(4, '0');
    return {
      fleetId: `fleet-${number}`,
      share,
      devices: Math.max(1, Math.round(DEVICES * share)),
      subscriptions: SUBSCRIPTIONS.map((subscription, place) => ({
        subscriptionId: uuidOf(random),
        eventType: subscription.eventType,
        url: `https://hooks.customer-${number}.example/waypost/${subscription.eventType}`,
        receiver:
          place === 1 && FLEETS_WITH_A_DEAD_RECEIVER.includes(index)
            ? { type: 'dead' }
            : { type: 'accepts', statusCode: subscription.statusCode },
        share: subscription.share,
      })),
    };
  });
}

/** A few devices of a fleet have much: the first of n has the square root of 1/n of its deliveries. */
export const deviceOf = (fleet: Fleet, random: () => number): string =>
  deviceName(fleet, Math.floor(random() ** 2 * fleet.devices));

export const deviceName = ({ fleetId }: Fleet, index: number): string =>
  `${fleetId}-vehicle-${String(index).padStart(5, '0')}`;

/** Finds by a number in [0, 1) what has its share there. */
export function createShares<T extends { readonly share: number }>(all: readonly T[]): (at: number) => T {
  const ends: number[] = [];
  let end = 0;
  for (const { share } of all) ends.push((end += share));
  return (at) => {
    let low = 0;
    for (let high = all.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (at < (ends[middle] ?? 1)) high = middle;
      else low = middle + 1;
    }
    const found = all[low];
    if (found === undefined) throw new RangeError('There is nothing to choose from.');
    return found;
  };
}
