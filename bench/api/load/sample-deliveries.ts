import { createDataSource } from '@waypost/database';
import { draftEvent, eventId, type FleetEvent, serializeBody, type WebhookAttempt } from '@waypost/domain';
import { createDeliveryProjection } from '@waypost/history-store';
import { attemptOf } from '../../../test/support/samples.js';

export interface SampledFleet {
  readonly fleetId: string;
  readonly subscriptions: readonly { readonly id: string; readonly eventType: string; readonly url: string }[];
  readonly devices: number;
}

/** How the deliveries of a sample end, in turn: of 20, 17 at once, one at the second attempt, one not, one is waiting. */
const ENDS = ['delivered', 'retried', 'failed', 'pending'] as const;
type End = (typeof ENDS)[number];
const TURN = 20;
const RETRY_MS = 2_000;

function endOf(number: number): End {
  return ENDS[Math.max(0, (number % TURN) - (TURN - ENDS.length))] ?? 'delivered';
}

/**
 * The attempts of the n-th delivery of a fleet, as webhook-delivery logs them: the same for the same arguments.
 *
 * @param firstAttemptAt epoch milliseconds
 */
export function sampleDelivery(fleet: SampledFleet, number: number, firstAttemptAt: number): WebhookAttempt[] {
  const subscription = fleet.subscriptions[number % fleet.subscriptions.length];
  if (subscription === undefined) throw new Error(`Fleet ${fleet.fleetId} has no subscription.`);
  const event = sampleEvent(fleet, subscription.eventType, number, firstAttemptAt - 400);
  const { fleetId, deviceId, eventType, eventTime } = event;
  const id = eventId({ fleetId, deviceId, eventType, eventTime, subscriptionId: subscription.id });
  const first = attemptOf({
    eventId: id,
    subscriptionId: subscription.id,
    fleetId,
    deviceId,
    eventType,
    eventTime,
    deliveryOffset: number,
    deliveryCreatedAt: firstAttemptAt - 20,
    url: subscription.url,
    startedAt: firstAttemptAt,
    durationMs: 40,
    statusCode: 204,
    body: serializeBody('v1', event, id),
  });
  return attemptsOf(first, endOf(number));
}

function attemptsOf(first: WebhookAttempt, end: End): WebhookAttempt[] {
  const refused = { statusCode: 503, outcome: 'retrying', decision: 'temporary_status' };
  const retrying = { ...first, ...refused, nextDueAt: first.startedAt + RETRY_MS };
  const again = (attempt: number): WebhookAttempt => {
    const startedAt = first.startedAt + (attempt - 1) * RETRY_MS;
    return { ...first, attempt, body: null, startedAt, dueAt: startedAt };
  };
  switch (end) {
    case 'delivered':
      return [first];
    case 'retried':
      return [retrying, again(2)];
    case 'pending':
      return [retrying];
    case 'failed': {
      const tried = [2, 3, 4].map((attempt) => ({
        ...again(attempt),
        ...refused,
        nextDueAt: again(attempt + 1).dueAt,
      }));
      const timedOut = { statusCode: null, errorCode: 'timeout', durationMs: 5_000, outcome: 'failed' };
      return [retrying, ...tried, { ...again(5), ...timedOut, decision: 'attempts_exhausted' }];
    }
  }
}

function sampleEvent(fleet: SampledFleet, eventType: string, number: number, eventTime: number): FleetEvent {
  const device = number % fleet.devices;
  return {
    ...draftEvent(fleet.fleetId, `device-${String(device)}`, eventType, eventTime),
    vehicleId: `vehicle-${String(device)}`,
    licensePlate: `B-WP ${String(1_000 + device)}`,
    driverId: null,
    latitude: 52.5 + (number % 1_000) / 1e4,
    longitude: 13.4 + (number % 997) / 1e4,
    altitudeInMeters: 34,
    speedInKmh: number % 90,
    heading: number % 360,
    ignition: true,
    odometerInMeters: 12_000_000 + number,
    batteryVoltage: 12.6,
    connectionType: 'lte',
    rpm: 1_500 + (number % 2_000),
    fuelLevel: 61.5,
  };
}

export interface WrittenDeliveries {
  readonly databaseUrl: string;
  readonly fleets: readonly SampledFleet[];
  /** Of every fleet. */
  readonly count: number;
  /** Epoch milliseconds: their first attempts are spread evenly between these. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** As large as history-projector's own. */
const ATTEMPTS_OF_A_BATCH = 4_000;
/** No partition of the real topic: the position of a projector that runs beside it stays where it is. */
const TOPIC = 'samples';

/** Writes deliveries as history-projector does: through its projection, in batches, in the order of their attempts. */
export async function writeDeliveries(options: WrittenDeliveries): Promise<void> {
  const { databaseUrl, fleets, count, fromMs, toMs } = options;
  const dataSource = await createDataSource(databaseUrl, { applicationName: 'samples' }).initialize();
  try {
    const projection = createDeliveryProjection({ dataSource, now: Date.now });
    let position = await projection.readPosition(TOPIC, 0);
    let attempts: WebhookAttempt[] = [];
    const flush = async (): Promise<void> => {
      const nextOffset = (position ?? 0) + attempts.length;
      const batch = { topic: TOPIC, partition: 0, expectedOffset: position, nextOffset, attempts };
      const result = await projection.apply(batch);
      if (result.type !== 'applied') throw new Error('Something else writes samples into this database.');
      position = nextOffset;
      attempts = [];
    };
    for (let number = 0; number < count; number += 1) {
      const firstAttemptAt = Math.floor(fromMs + ((toMs - fromMs) * number) / count);
      for (const fleet of fleets) attempts.push(...sampleDelivery(fleet, number, firstAttemptAt));
      if (attempts.length >= ATTEMPTS_OF_A_BATCH) await flush();
    }
    if (attempts.length > 0) await flush();
    // Pages are planned by statistics, which autovacuum brings after a minute or so in the real thing.
    await dataSource.query('ANALYZE deliveries');
  } finally {
    await dataSource.destroy();
  }
}
