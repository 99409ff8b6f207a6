import { createHash } from 'node:crypto';
import { topics } from '@waypost/contracts';
import { formatSigningSecret, sealSigningSecret, type WebhookSubscription } from '@waypost/domain';
import { openRecordPublisher } from '@waypost/streams';
import { subscriptionOf } from '../../support/samples.js';
import { codecsOf } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import type { EndpointBehaviour } from './judge/observations.js';

/** A subscription as its owner knows it. */
export interface Subscriber {
  readonly subscription: WebhookSubscription;
  readonly path: string;
  readonly secret: string;
  readonly behaviour: EndpointBehaviour;
}

export const EVENT_TYPE = 'position';

const FLEETS = 90;
/** The first fleets have two subscriptions that match, so there are 100 endpoints. */
const FLEETS_WITH_TWO = 10;
/** 10 % of the endpoints fail; as many answer slowly. */
const BEHAVIOUR_OF_TEN: readonly (readonly EndpointBehaviour[])[] = [
  ['always-503', 'slow'],
  ['first-503', 'slow'],
  ['refuses', 'slow'],
];
/** Subscriptions that no delivery may be made for: one disabled and one of another type. */
const DECOYS = [{ status: 'disabled' }, { eventType: 'ignition_on' }] as const;

export function fleetId(number: number): string {
  return `delivery-integrity-${String(number)}`;
}
export const fleetIds: readonly string[] = Array.from({ length: FLEETS }, (_, number) => fleetId(number));

export interface SubscribersOptions {
  readonly port: number;
  /** Nothing listens there. */
  readonly closedPort: number;
  readonly sealingKey: Buffer;
}

/** The same for the same ports and key. */
export function makeSubscribers(options: SubscribersOptions): Subscriber[] {
  const fleets = [...fleetIds, ...fleetIds.slice(0, FLEETS_WITH_TWO)];
  const wanted = fleets.map((fleet, number) => makeSubscriber(options, { number, fleet, fields: {} }));
  const decoys = DECOYS.map((fields, index) => {
    const number = fleets.length + index;
    return makeSubscriber(options, { number, fleet: fleetId(0), fields });
  });
  return [...wanted, ...decoys];
}

function behaviourOf(number: number): EndpointBehaviour {
  const kinds = BEHAVIOUR_OF_TEN[Math.floor(number / 10) % BEHAVIOUR_OF_TEN.length];
  return kinds?.[number % 10] ?? 'healthy';
}

interface Wanted {
  readonly number: number;
  readonly fleet: string;
  readonly fields: Partial<WebhookSubscription>;
}

function makeSubscriber(
  { port, closedPort, sealingKey }: SubscribersOptions,
  { number, fleet, fields }: Wanted,
): Subscriber {
  const bytes = createHash('sha256')
    .update(`delivery-integrity ${String(number)}`)
    .digest();
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const path = `/hook/${String(number)}`;
  const behaviour = behaviourOf(number);
  const url = `http://127.0.0.1:${String(behaviour === 'refuses' ? closedPort : port)}${path}`;
  // The nonce is used for this one secret only.
  const sealed = sealSigningSecret(bytes, [sealingKey], bytes.subarray(0, 12), id);
  const secrets = [{ sealed, expiresAt: null }];
  const subscription = subscriptionOf({ id, fleetId: fleet, eventType: EVENT_TYPE, url, secrets, ...fields });
  return { subscription, path, secret: formatSigningSecret(bytes), behaviour };
}

/** Whether an event of its fleet is for it. */
export function isWanting({ subscription: { status, eventType } }: Subscriber): boolean {
  return status === 'active' && eventType === EVENT_TYPE;
}

/** As the outbox of public-api does: one record each, keyed by the subscription. */
export async function publishSubscribers(log: Log, subscribers: readonly Subscriber[]): Promise<void> {
  const codec = codecsOf(log).webhookSubscriptions;
  await codec.prepare();
  const publisher = await openRecordPublisher(log.kafka, topics.webhookSubscriptions.name);
  const records = subscribers.map(({ subscription }) => ({
    key: Buffer.from(subscription.id),
    value: codec.encode(subscription),
  }));
  await publisher.publish(records);
  await publisher.close();
}
