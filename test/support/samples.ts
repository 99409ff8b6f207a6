import {
  draftEvent,
  type FleetEvent,
  type TelemetryPing,
  type WebhookAttempt,
  type WebhookSubscription,
} from '@waypost/domain';

/** 2024-05-01T12:00:00.000Z */
export const NOON = Date.UTC(2024, 4, 1, 12);

/** A ping that reports a valid fix and nothing else, received when it was made. */
export function pingOf(fields: Partial<TelemetryPing> = {}): TelemetryPing {
  return {
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventTime: NOON,
    receivedTime: fields.eventTime ?? NOON,
    positionValid: true,
    latitude: 52.1,
    longitude: 4.9,
    altitudeInMeters: null,
    speedInKmh: null,
    heading: null,
    satellites: null,
    hdop: null,
    ignition: null,
    odometerInMeters: null,
    rpm: null,
    fuelLevel: null,
    batteryVoltage: null,
    connectionType: null,
    vehicleId: null,
    licensePlate: null,
    driverId: null,
    sequence: null,
    buffered: false,
    attributes: {},
    ...fields,
  };
}

/** A position of which nothing is known but where and when. */
export function eventOf(fields: Partial<FleetEvent> = {}): FleetEvent {
  return { ...draftEvent('fleet-1', 'device-1', 'position', NOON), latitude: 52.1, longitude: 4.9, ...fields };
}

/** An active subscription to positions of every device of fleet-1. */
export function subscriptionOf(fields: Partial<WebhookSubscription> = {}): WebhookSubscription {
  return {
    id: '0f0e6c1c-5f43-4a3c-9a52-0d6f3d2a7a11',
    fleetId: 'fleet-1',
    eventType: 'position',
    url: 'https://receiver.example/hook',
    description: null,
    metadata: {},
    status: 'active',
    disabledReason: null,
    payloadFormat: 'v1',
    deviceIds: null,
    auth: null,
    headers: [],
    clientCertificate: null,
    rateLimitPerSecond: null,
    onOutage: 'fail',
    strictOrder: false,
    secrets: [{ sealed: 'sealed', expiresAt: null }],
    version: 1,
    createdAt: NOON,
    updatedAt: NOON,
    ...fields,
  };
}

/** The first attempt of a delivery, accepted in time. */
export function attemptOf(fields: Partial<WebhookAttempt> = {}): WebhookAttempt {
  const startedAt = fields.startedAt ?? NOON;
  return {
    eventId: '5e3bd1a6-7f6f-5a53-9c2f-0a54e4d5b0c1',
    subscriptionId: '0f0e6c1c-5f43-4a3c-9a52-0d6f3d2a7a11',
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: startedAt - 500,
    format: 'v1',
    series: 0,
    replayId: null,
    deliveryOffset: 1,
    deliveryCreatedAt: startedAt - 10,
    url: 'https://receiver.example/hook',
    attempt: 1,
    dueAt: startedAt,
    startedAt,
    firstAttemptAt: startedAt,
    durationMs: 12,
    statusCode: 200,
    errorCode: null,
    errorDetail: null,
    outcome: 'delivered',
    decision: 'accepted',
    nextDueAt: null,
    body: null,
    probe: false,
    probes: 0,
    retryAfterMs: null,
    responseBody: null,
    ...fields,
  };
}
