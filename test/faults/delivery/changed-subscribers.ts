import { createHash } from 'node:crypto';
import { formatSigningSecret, sealSigningSecret, type WebhookSubscription } from '@waypost/domain';
import { type Change, EVENT_TYPE, makeSubscriber, type Subscriber, type SubscribersOptions } from './subscribers.js';

/** Its events go to subscriptions that their owner changes again and again, and to witnesses, which stay as they are. */
export const CHANGED_FLEET = 'delivery-integrity-changed';
export const CHANGED_DEVICES = 4;
/** Of every third event of the fleet; the others are positions. */
export const CHANGED_OTHER_TYPE = 'ignition_off';
/** The deliveries to them say when an event was fanned out, and so which settings of the others it met. */
const WITNESSES: readonly string[] = [EVENT_TYPE, CHANGED_OTHER_TYPE];
const FIRST_WITNESS = 202;
/** Its subscription is paused while more events come than a process keeps in memory of one, and wants strict order. */
export const PARKED_FLEET = 'delivery-integrity-parked';
const PARKED = 212;
/** Shorter than a change lasts. */
const OLD_SECRET_SIGNS_MS = 1_500;

interface Changing {
  readonly number: number;
  readonly change: (first: Subscriber, options: SubscribersOptions) => Change;
}

/** Endpoints with a number of 220 to 280 refuse first attempts, so that changes meet retries. */
const CHANGING: readonly Changing[] = [
  { number: 206, change: () => () => ({ deviceIds: [changedDevice(0), 'of no vehicle'] }) },
  { number: 207, change: () => () => ({ eventType: CHANGED_OTHER_TYPE }) },
  { number: 208, change: () => () => ({ rateLimitPerSecond: 2 }) },
  { number: 220, change: () => () => ({ status: 'disabled' }) },
  { number: 250, change: () => () => null },
  { number: 280, change: (first) => () => ({ url: `${first.subscription.url}/moved` }) },
];

export function changedDevice(number: number): string {
  return `${CHANGED_FLEET}.device-${String(number)}`;
}

/** All of both fleets. */
export function makeChangedSubscribers(options: SubscribersOptions): Subscriber[] {
  const make = (number: number, fields: Partial<WebhookSubscription> = {}): Subscriber =>
    makeSubscriber(options, { number, fleet: CHANGED_FLEET, fields });
  const witnesses = WITNESSES.map((eventType, index) => make(FIRST_WITNESS + index, { eventType }));
  const changing = CHANGING.map(({ number, change }) => {
    const first = make(number);
    return { ...first, change: change(first, options) };
  });
  const fields = { strictOrder: true };
  const parked = makeSubscriber(options, { number: PARKED, fleet: PARKED_FLEET, fields });
  const paused = { ...parked, change: () => ({ status: 'paused' }) };
  return [...witnesses, ...changing, rotated(make(205), options), paused];
}

/** The old secret signs beside the new one for a while. */
function rotated(first: Subscriber, { sealingKey }: SubscribersOptions): Subscriber {
  const { id, secrets } = first.subscription;
  const bytes = createHash('sha256').update(`${id} rotated`).digest();
  const sealed = sealSigningSecret(bytes, [sealingKey], bytes.subarray(0, 12), id);
  const old = secrets[0]?.sealed ?? '';
  return {
    ...first,
    nextSecret: formatSigningSecret(bytes),
    change: (nowMs) => ({
      secrets: [
        { sealed, expiresAt: null },
        { sealed: old, expiresAt: nowMs + OLD_SECRET_SIGNS_MS },
      ],
    }),
  };
}
