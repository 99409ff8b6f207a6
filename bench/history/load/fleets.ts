import type { EventType } from '@waypost/domain';
import { partitionForKey } from '@waypost/streams';
import { createRandom, type Random } from '../../../tools/simulator/random.js';

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

/** What one partition of the log has of the fleets: a subscription is in one partition, as its deliveries are keyed by it. */
export interface PartitionOfFleets {
  readonly fleets: readonly Fleet[];
  /** Part of all deliveries. */
  readonly share: number;
}

export function fleetsOfPartition(all: readonly Fleet[], partition: number, partitions: number): PartitionOfFleets {
  const there = all.flatMap((fleet) => {
    const subscriptions = fleet.subscriptions.filter(
      ({ subscriptionId }) => partitionForKey(Buffer.from(subscriptionId), partitions) === partition,
    );
    const part = sumOfShares(subscriptions);
    return part === 0 ? [] : [{ ...fleet, share: fleet.share * part, subscriptions: sharing(subscriptions, part) }];
  });
  const share = sumOfShares(there);
  return { fleets: sharing(there, share), share };
}

function sumOfShares(all: readonly { readonly share: number }[]): number {
  return all.reduce((sum, { share }) => sum + share, 0);
}

/** With shares of `total` instead of 1. */
function sharing<T extends { readonly share: number }>(all: readonly T[], total: number): T[] {
  return all.map((one) => ({ ...one, share: one.share / total }));
}

/** A few devices of a fleet have much: the first of n has the square root of 1/n of its deliveries. */
export function deviceOf(fleet: Fleet, random: () => number): string {
  return deviceName(fleet, Math.floor(random() ** 2 * fleet.devices));
}

export function deviceName({ fleetId }: Fleet, index: number): string {
  return `${fleetId}-vehicle-${String(index).padStart(5, '0')}`;
}

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

/** What becomes of one attempt. */
export interface AttemptFate {
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  readonly decision: string;
}

const MAX_ATTEMPTS = 5;
/** With the dead receivers this makes one delivery in ten that has several attempts. */
const RETRIED = 0.08;
const REFUSED = 0.015;
const PERMANENT = [410, 404, 400, 401] as const;
const TEMPORARY = [503, 503, 503, 500, 502, 429, null, null] as const;

/** @throws RangeError when there is nothing to choose from */
export function choose<T>(from: readonly T[], random: Random): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new RangeError('There is nothing to choose from.');
  return found;
}

const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** As spread out as the ids of events are. */
export function uuidOf(random: Random): string {
  const word = (): string => HEX[Math.floor(random() * 65_536)] ?? '0000';
  return `${word()}${word()}-${word()}-5${word().slice(1)}-8${word().slice(1)}-${word()}${word()}${word()}`;
}

/** All attempts of one delivery, in order; at least one. Nearly all deliveries are accepted at once. */
export type DeliveryFate = readonly [AttemptFate, ...AttemptFate[]];

export function fateOf(receiver: Receiver, random: Random): DeliveryFate {
  if (receiver.type === 'dead') return exhausted(random);
  const accepted = acceptedWith(receiver.statusCode);
  const luck = random();
  if (luck >= RETRIED + REFUSED) return [accepted];
  if (luck < REFUSED) return [refusedWith(choose(PERMANENT, random))];
  if (random() < 0.15) return exhausted(random);
  // Half of them succeed with the second attempt.
  const tries = 1 + Math.min(MAX_ATTEMPTS - 2, Math.floor(-Math.log2(1 - random())));
  const retried = Array.from({ length: tries - 1 }, () => temporary(random, 'retrying'));
  return [temporary(random, 'retrying'), ...retried, accepted];
}

function exhausted(random: Random): DeliveryFate {
  return [
    temporary(random, 'retrying'),
    ...Array.from({ length: MAX_ATTEMPTS - 2 }, () => temporary(random, 'retrying')),
    temporary(random, 'failed'),
  ];
}

function acceptedWith(statusCode: number): AttemptFate {
  return { statusCode, errorCode: null, outcome: 'delivered', decision: 'accepted' };
}

function refusedWith(statusCode: number): AttemptFate {
  return { statusCode, errorCode: null, outcome: 'failed', decision: 'permanent_status' };
}

function temporary(random: Random, outcome: 'retrying' | 'failed'): AttemptFate {
  const statusCode = choose(TEMPORARY, random);
  const reason = statusCode === null ? 'no_response' : 'temporary_status';
  return {
    statusCode,
    errorCode: statusCode === null ? 'timeout' : null,
    outcome,
    decision: outcome === 'failed' ? 'attempts_exhausted' : reason,
  };
}
