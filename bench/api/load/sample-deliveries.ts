import { draftEvent, eventId, serialiseBody, type FleetEvent, type WebhookAttempt } from '@waypost/domain';

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

const endOf = (number: number): End => ENDS[Math.max(0, (number % TURN) - (TURN - ENDS.length))] ?? 'delivered';

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
  const first: WebhookAttempt = {
    ...{ eventId: id, subscriptionId: subscription.id, fleetId, deviceId, eventType, eventTime },
    ...{ format: 'v1', series: 0, replayId: null, deliveryOffset: number, deliveryCreatedAt: firstAttemptAt - 20 },
    ...{ url: subscription.url, attempt: 1, dueAt: firstAttemptAt, startedAt: firstAttemptAt, firstAttemptAt },
    ...{ durationMs: 40, statusCode: 204, errorCode: null, errorDetail: null, outcome: 'delivered' },
    ...{ decision: 'accepted', nextDueAt: null, body: serialiseBody('v1', event, id) },
  };
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
    ...{ vehicleId: `vehicle-${String(device)}`, licensePlate: `B-WP ${String(1_000 + device)}` },
    ...{ driverId: null, latitude: 52.5 + (number % 1_000) / 1e4, longitude: 13.4 + (number % 997) / 1e4 },
    ...{ altitudeInMeters: 34, speedInKmh: number % 90, heading: number % 360 },
    ...{ ignition: true, odometerInMeters: 12_000_000 + number, batteryVoltage: 12.6, connectionType: 'lte' },
    ...{ rpm: 1_500 + (number % 2_000), fuelLevel: 61.5 },
  };
}
