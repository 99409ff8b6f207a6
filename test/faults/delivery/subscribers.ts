import { createHash } from 'node:crypto';
import { topics } from '@waypost/contracts';
import {
  type FleetEvent,
  formatSigningSecret,
  sealClientSecret,
  sealSigningSecret,
  type WebhookSubscription,
} from '@waypost/domain';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { subscriptionOf } from '../../support/samples.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import type { EndpointBehavior } from './judge/observations.js';

/** What changes, until it is changed back; null: it is deleted. */
export type Change = (nowMs: number) => Partial<WebhookSubscription> | null;

/** A subscription as its owner knows it. */
export interface Subscriber {
  readonly subscription: WebhookSubscription;
  readonly path: string;
  readonly secret: string;
  readonly behavior: EndpointBehavior;
  readonly needsToken: boolean;
  /** After a rotation; null: it keeps its secret. */
  readonly nextSecret: string | null;
  /** null: its owner changes nothing, or only pauses it. */
  readonly change: Change | null;
}

export const EVENT_TYPE = 'position';

const FLEETS = 90;
/** The first fleets have two subscriptions that match, so there are 100 endpoints. */
const FLEETS_WITH_TWO = 10;
/** What the second subscriptions are for, five of each. */
export const OTHER_TYPES = ['geofence_out', 'route_finished'] as const;
export const DEVICES_OF_A_FLEET = 16;
/** 10 % of the endpoints fail; as many answer slowly. */
const BEHAVIOR_OF_TEN: readonly (readonly EndpointBehavior[])[] = [
  ['always-503', 'slow'],
  ['first-503', 'slow'],
  ['refuses', 'slow'],
];
export const NEVER_TYPE = 'ignition_on';
/** Subscriptions that no delivery may be made for: one disabled and one of a type that never comes. */
const DECOYS = [{ status: 'disabled' }, { eventType: NEVER_TYPE }] as const;
/** The last one is strict and refuses first attempts, so that a pause meets deliveries that wait for each other. */
export const PAUSED = [16, 17, 70] as const;
/** What they refuse until they are fixed is replayed. */
export const FIXED = [32, 33] as const;
/** What they were sent is replayed. */
export const REPLAYED = [34, 37] as const;
/** What they were sent is replayed for one device, and for a type that never came. */
export const FILTERED = [35, 36] as const;
/** A replay of it is cancelled when it has just begun. */
export const CANCELLED = 38;
const BEARER = [12, 13, 14, 43];
/** One of a kind; each costs its sender something else. */
const SPECIAL: Readonly<Record<number, EndpointBehavior>> = {
  42: 'busy',
  43: 'unauthorized',
  44: 'gone',
  45: 'redirects',
  46: 'silent',
};

/** What some of them ask for; the others ask for nothing. */
function attributesOf(number: number): Partial<WebhookSubscription> {
  return {
    // The last one is for geofences.
    ...(number % 4 === 1 || number === 98 ? { payloadFormat: 'legacy-v1' } : {}),
    ...(number === 15 || number === 47 || number === 48 ? { rateLimitPerSecond: 12 } : {}),
    ...(number === 18 || number === 19 ? { onOutage: 'hold' } : {}),
    ...((number >= 22 && number <= 27) || number === 31 || number === 70 ? { strictOrder: true } : {}),
    ...(number === 28 ? { deviceIds: [0, 1, 2, 3].map((device) => deviceId(fleetId(28), device)) } : {}),
  };
}

export function deviceId(fleet: string, device: number): string {
  return `${fleet}.device-${String(device)}`;
}

export function fleetId(number: number): string {
  return `delivery-integrity-${String(number)}`;
}
export const fleetIds: readonly string[] = Array.from({ length: FLEETS }, (_, number) => fleetId(number));

export interface SubscribersOptions {
  readonly port: number;
  /** Nothing listens there. */
  readonly closedPort: number;
  readonly sealingKey: Buffer;
  /** Every endpoint accepts the second attempt at the latest: a series ends after 3 s instead of 32. */
  readonly brief: boolean;
}

/** Not as it is in a header: it has to be encoded. */
export const CLIENT_SECRET = 'client secret: 100 %';
export const TOKEN_PATH = '/token';

/** The same for the same ports and key. */
export function makeSubscribers(options: SubscribersOptions): Subscriber[] {
  const fleets = [...fleetIds, ...fleetIds.slice(0, FLEETS_WITH_TWO)];
  const wanted = fleets.map((fleet, number) => {
    const eventType = number < FLEETS ? EVENT_TYPE : (OTHER_TYPES[number % OTHER_TYPES.length] ?? EVENT_TYPE);
    return makeSubscriber(options, { number, fleet, fields: { eventType, ...attributesOf(number) } });
  });
  const decoys = DECOYS.map((fields, index) => {
    const number = fleets.length + index;
    return makeSubscriber(options, { number, fleet: fleetId(0), fields });
  });
  return [...wanted, ...decoys];
}

function behaviorOf(number: number): EndpointBehavior {
  if (FIXED.some((fixed) => fixed === number)) return 'fixed';
  const special = SPECIAL[number];
  if (special !== undefined) return special;
  const kinds = BEHAVIOR_OF_TEN[Math.floor(number / 10) % BEHAVIOR_OF_TEN.length];
  return kinds?.[number % 10] ?? 'healthy';
}

interface Wanted {
  readonly number: number;
  readonly fleet: string;
  readonly fields: Partial<WebhookSubscription>;
}

export function makeSubscriber(
  { port, closedPort, sealingKey, brief }: SubscribersOptions,
  { number, fleet, fields }: Wanted,
): Subscriber {
  const bytes = createHash('sha256')
    .update(`delivery-integrity ${String(number)}`)
    .digest();
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const path = `/hook/${String(number)}`;
  const usual = behaviorOf(number);
  const behavior = brief && (usual === 'always-503' || usual === 'refuses') ? 'first-503' : usual;
  const url = `http://127.0.0.1:${String(behavior === 'refuses' ? closedPort : port)}${path}`;
  // The nonce is used for this one secret only.
  const sealed = sealSigningSecret(bytes, [sealingKey], bytes.subarray(0, 12), id);
  const secrets = [{ sealed, expiresAt: null }];
  const auth = BEARER.includes(number)
    ? {
        tokenUrl: `http://127.0.0.1:${String(port)}${TOKEN_PATH}`,
        clientId: id,
        scope: null,
        audience: null,
        tokenAuthMethod: number % 2 === 0 ? 'client_secret_basic' : 'client_secret_post',
        sealedClientSecret: sealClientSecret(CLIENT_SECRET, [sealingKey], bytes.subarray(12, 24), id),
      }
    : null;
  const subscription = subscriptionOf({ id, fleetId: fleet, eventType: EVENT_TYPE, url, secrets, auth, ...fields });
  const secret = formatSigningSecret(bytes);
  return { subscription, path, secret, behavior, needsToken: auth !== null, nextSecret: null, change: null };
}

/** Whether an event is for it, paused or not. */
export function wants(
  { subscription }: Pick<Subscriber, 'subscription'>,
  event: Pick<FleetEvent, 'fleetId' | 'deviceId' | 'eventType'>,
): boolean {
  return subscription.fleetId === event.fleetId && isWantedBy(subscription, event);
}

/** Its endpoint has an outage from the beginning until it is repaired, and its subscription holds. */
export const OUTAGE_FLEET = 'delivery-integrity-outage';
const OUTAGE = 213;
/** A shorter run would have to wait until the subscription is suspended. */
export const LEAST_WITH_OUTAGE_MS = 5 * 60_000;

export function makeHeldSubscriber(options: SubscribersOptions): Subscriber {
  const fields = { onOutage: 'hold' } as const;
  return { ...makeSubscriber(options, { number: OUTAGE, fleet: OUTAGE_FLEET, fields }), behavior: 'outage' };
}

/** The same for an event of its fleet. */
export function isWantedBy(
  { status, eventType, deviceIds }: Pick<WebhookSubscription, 'status' | 'eventType' | 'deviceIds'>,
  event: Pick<FleetEvent, 'deviceId' | 'eventType'>,
): boolean {
  if (status === 'disabled' || status === 'deleted' || eventType !== event.eventType) return false;
  return deviceIds === null || deviceIds.includes(event.deviceId);
}

export interface PublishedVersion extends Pick<Subscriber, 'subscription'> {
  /** Absent: as it is; null: it is deleted. */
  readonly current?: WebhookSubscription | null;
}

export interface SubscriberPublisher {
  publish(versions: readonly PublishedVersion[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * As the outbox of public-api does: one record each, keyed by the subscription. Opened before the faults begin, it waits
 * for brokers that are away; opening one fails then.
 */
export async function openSubscriberPublisher(log: Log): Promise<SubscriberPublisher> {
  const codec = codecsOf(log).webhookSubscriptions;
  await codec.prepare();
  const publisher = await openRecordPublisher(log.kafka, topics.webhookSubscriptions.name);
  return {
    publish: (versions) =>
      publisher.publish(
        versions.map(({ subscription, current = subscription }) => ({
          key: Buffer.from(subscription.id),
          value: current && codec.encode(current),
        })),
      ),
    close: () => publisher.close(),
  };
}
