import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebhookAttempt } from '@waypost/domain';
import { createRandom, type Random } from '../../../tools/simulator/random.js';
import { type AttemptFate, createShares, deviceOf, fateOf, type Fleet, type Subscription, uuidOf } from './fleets.js';

export interface AttemptSourceOptions {
  readonly fleets: readonly Fleet[];
  readonly seed: number;
  /** The window of the first attempts [fromMs, toMs), epoch milliseconds, evenly filled. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly deliveries: number;
  /** Attempts in a batch. */
  readonly batchSize: number;
}

/** One partition of an attempt log. */
export interface AttemptSource {
  /** The next run of the log; empty: it is over. What is still to be retried then stays pending. */
  next(): Promise<readonly WebhookAttempt[]>;
  /** Deliveries begun so far. */
  begun(): number;
}

const RETRY_DELAYS_MS = [2_000, 4_000, 8_000, 15_000] as const;
/**
 * How many records of the partition come in a millisecond while retries wait: as in a log that is written at 20,000/s to
 * four partitions. So a retry comes some batches after its delivery, and the row is there already.
 */
const RECORDS_PER_MS = 5;

/** As history-projector decodes. */
const ATTEMPTS_IN_A_PIECE = 200;

/** The same log for the same options. */
export function createAttemptSource(options: AttemptSourceOptions): AttemptSource {
  const { fleets, seed, fromMs, toMs, deliveries, batchSize } = options;
  const random = createRandom(seed);
  const writeBody = createBodyWriter(seed);
  const fleetAt = createShares(fleets);
  const subscriptionsOf = new Map(fleets.map((fleet) => [fleet, createShares(fleet.subscriptions)]));
  /** By the number of the batch that they are in. */
  const retries = new Map<number, WebhookAttempt[]>();
  let batch = 0;
  let begun = 0;

  function begin(): WebhookAttempt {
    const fleet = fleetAt(random());
    const subscription = (subscriptionsOf.get(fleet) ?? createShares(fleet.subscriptions))(random());
    const at = Math.floor(fromMs + ((begun + random()) / deliveries) * (toMs - fromMs));
    begun += 1;
    const [fate, ...others] = fateOf(subscription.receiver, random);
    const first = firstAttempt({ fleet, subscription, at, fate, number: begun, writeBody }, random);
    let last = first;
    for (const next of others) last = later(last, next);
    return first;
  }

  function later(before: WebhookAttempt, fate: AttemptFate): WebhookAttempt {
    const attempt = nextAttempt(before, fate);
    const waited = attempt.startedAt - attempt.firstAttemptAt;
    const due = batch + Math.max(1, Math.ceil((waited * RECORDS_PER_MS) / batchSize));
    const others = retries.get(due);
    if (others === undefined) retries.set(due, [attempt]);
    else others.push(attempt);
    return attempt;
  }

  return {
    begun: () => begun,
    async next() {
      if (begun === deliveries) return [];
      const attempts = retries.get(batch) ?? [];
      retries.delete(batch);
      while (attempts.length < batchSize && begun < deliveries) {
        attempts.push(begin());
        if (attempts.length % ATTEMPTS_IN_A_PIECE === 0) await nextTurn();
      }
      batch += 1;
      return attempts;
    },
  };
}

interface NewDelivery {
  readonly fleet: Fleet;
  readonly subscription: Subscription;
  readonly at: number;
  readonly fate: AttemptFate;
  readonly number: number;
  readonly writeBody: BodyWriter;
}

/** Each field by name: spreading is slow for objects of this size. */
function firstAttempt(
  { fleet, subscription, at, fate, number, writeBody }: NewDelivery,
  random: Random,
): WebhookAttempt {
  const eventId = uuidOf(random);
  const eventTime = at - 1_500 - Math.floor(random() * 3_000);
  const deviceId = deviceOf(fleet, random);
  const { eventType, subscriptionId, url } = subscription;
  const { fleetId } = fleet;
  return {
    eventId,
    subscriptionId,
    fleetId,
    deviceId,
    eventType,
    eventTime,
    format: 'v1',
    series: 0,
    replayId: null,
    deliveryOffset: number,
    deliveryCreatedAt: at - 15,
    url,
    attempt: 1,
    dueAt: at - 2,
    startedAt: at,
    firstAttemptAt: at,
    durationMs: 20 + Math.floor(random() * 200),
    statusCode: fate.statusCode,
    errorCode: fate.errorCode,
    errorDetail: null,
    responseBody: null,
    outcome: fate.outcome,
    decision: fate.decision,
    nextDueAt: fate.outcome === 'retrying' ? at + delayAfter(1) : null,
    body: writeBody({ eventId, eventTime, eventType, deviceId, fleetId }),
    probe: false,
    probes: 0,
    retryAfterMs: null,
  };
}

function nextAttempt(before: WebhookAttempt, fate: AttemptFate): WebhookAttempt {
  const startedAt = before.startedAt + delayAfter(before.attempt);
  const attempt = before.attempt + 1;
  return {
    ...before,
    attempt,
    dueAt: startedAt - 2,
    startedAt,
    statusCode: fate.statusCode,
    errorCode: fate.errorCode,
    outcome: fate.outcome,
    decision: fate.decision,
    nextDueAt: fate.outcome === 'retrying' ? startedAt + delayAfter(attempt) : null,
    body: null,
  };
}

function delayAfter(attempt: number): number {
  return RETRY_DELAYS_MS[attempt - 1] ?? 15_000;
}

export interface EventOfBody {
  readonly eventId: string;
  readonly eventTime: number;
  readonly eventType: string;
  readonly deviceId: string;
  readonly fleetId: string;
}

export type BodyWriter = (event: EventOfBody) => string;

const READINGS = 4_096;
function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/**
 * Writes bodies of the format v1 with everything that a vehicle reports: some 450 bytes. What the vehicle measures is taken
 * in turn from a few thousand readings: a benchmark of the history is not one of JSON.
 */
function createBodyWriter(seed: number): BodyWriter {
  const random = createRandom(seed);
  const readings = Array.from({ length: READINGS }, () => JSON.stringify(readingOf(random())).slice(1));
  let turn = 0;
  return ({ eventId, eventTime, eventType, deviceId, fleetId }) => {
    turn = (turn + 1) % READINGS;
    const time = new Date(eventTime).toISOString();
    const head = `{"eventId":"${eventId}","eventTime":"${time}","eventType":"${eventType}","eventData":`;
    return `${head}{"deviceId":"${deviceId}","fleetId":"${fleetId}",${readings[turn] ?? '}'}}`;
  };
}

function readingOf(some: number) {
  return {
    vehicleId: `WPT${String(Math.floor(some * 100_000))}`,
    licensePlate: `B-WP ${String(Math.floor(some * 10_000))}`,
    latitude: round(47 + some * 7, 6),
    longitude: round(6 + some * 9, 6),
    altitudeInMeters: Math.floor(some * 900),
    speedInKmh: round(some * 130, 1),
    heading: Math.floor(some * 360),
    ignition: some > 0.3,
    odometerInMeters: 10_000_000 + Math.floor(some * 90_000_000),
    batteryVoltage: round(12 + some * 2, 2),
    connectionType: 'lte',
    rpm: Math.floor(some * 3_500),
    fuelLevel: round(some * 100, 1),
  };
}
