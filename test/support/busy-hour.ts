import { createHash } from 'node:crypto';
import { MAX_ATTEMPTS, type PathPoint, retryDelayMs, type WebhookAttempt } from '@waypost/domain';
import { attemptOf } from './samples.js';

/** A subscription of the fleet, and how its endpoint behaves. */
export interface BusyEndpoint {
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly url: string;
  /** Deliveries in a usual minute. */
  readonly perMinute: number;
  /** Of an attempt that starts then; null: no response in time. */
  readonly answer: (minutesAgo: number, random: number) => number | null;
}

export interface BusyHour {
  readonly fleetId: string;
  readonly endpoints: readonly BusyEndpoint[];
  readonly nowMs: number;
  readonly minutes: number;
}

const MINUTE_MS = 60_000;
const VEHICLES = 40;
const TIMEOUT_MS = 5_000;

/** The attempts of a fleet in the last hour as the log would have them: waves, an outage, retries. The same every time. */
export function busyHour({ fleetId, endpoints, nowMs, minutes }: BusyHour): WebhookAttempt[] {
  const attempts: WebhookAttempt[] = [];
  for (const endpoint of endpoints) {
    for (let minute = minutes; minute > 0; minute--) {
      const wave = 1 + 0.45 * Math.sin(minute / 7) + 0.4 * (chance(fleetId, endpoint.eventType, minute) - 0.5);
      const count = Math.max(1, Math.round(endpoint.perMinute * wave));
      for (let n = 0; n < count; n++) {
        const firstAttemptAt = nowMs - minute * MINUTE_MS + Math.floor((n + chance(minute, n)) * (MINUTE_MS / count));
        attempts.push(...attemptsOf(fleetId, endpoint, firstAttemptAt, nowMs));
      }
    }
  }
  return attempts.sort((a, b) => a.startedAt - b.startedAt);
}

function attemptsOf(fleetId: string, endpoint: BusyEndpoint, firstAttemptAt: number, nowMs: number): WebhookAttempt[] {
  const { subscriptionId, eventType, url, answer } = endpoint;
  const identity = `${fleetId} ${subscriptionId} ${String(firstAttemptAt)}`;
  const deviceId = vehicleName(Math.floor(chance(identity) * VEHICLES));
  const eventTime = firstAttemptAt - 400 - Math.floor(800 * chance(identity, 'age'));
  const eventId = uuidOf(identity);
  const made: WebhookAttempt[] = [];
  for (let [attempt, dueAt] = [1, firstAttemptAt]; attempt <= MAX_ATTEMPTS; attempt++) {
    const late = Math.floor(12 * chance(identity, attempt, 'late'));
    const startedAt = attempt === 1 ? firstAttemptAt : dueAt + late;
    if (startedAt > nowMs) break;
    const statusCode = answer((nowMs - startedAt) / MINUTE_MS, chance(identity, attempt));
    const durationMs =
      statusCode === null ? TIMEOUT_MS : 24 + Math.floor(240 * chance(identity, attempt, 'duration') ** 6);
    const isTemporary = statusCode === null || statusCode >= 500;
    const outcome =
      statusCode !== null && statusCode < 300
        ? 'delivered'
        : isTemporary && attempt < MAX_ATTEMPTS
          ? 'retrying'
          : 'failed';
    const nextDueAt =
      outcome === 'retrying'
        ? startedAt + durationMs + retryDelayMs(attempt, chance(identity, attempt, 'delay'))
        : null;
    made.push(
      attemptOf({
        eventId,
        subscriptionId,
        fleetId,
        deviceId,
        eventType,
        eventTime,
        url,
        attempt,
        dueAt,
        startedAt,
        deliveryCreatedAt: firstAttemptAt - 6,
        firstAttemptAt,
        durationMs,
        statusCode,
        outcome,
        decision: outcome,
        nextDueAt,
        ...explanationOf(statusCode),
        body: attempt === 1 ? bodyOf({ eventId, eventType, eventTime, deviceId, fleetId }) : null,
      }),
    );
    if (nextDueAt === null) break;
    dueAt = nextDueAt;
  }
  return made;
}

/** As a receiver explains itself that runs behind a proxy. */
function explanationOf(statusCode: number | null) {
  if (statusCode === null)
    return { errorCode: 'timeout', errorDetail: `no response within ${String(TIMEOUT_MS)} ms`, responseBody: null };
  const responseBody =
    statusCode < 300
      ? null
      : statusCode < 500
        ? '{"error":"unknown_vehicle","message":"No vehicle of this fleet has this id."}'
        : 'upstream connect error or disconnect before headers';
  return { errorCode: null, errorDetail: null, responseBody };
}

interface Addressed {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: number;
  readonly deviceId: string;
  readonly fleetId: string;
}

function bodyOf({ eventId, eventType, eventTime, deviceId, fleetId }: Addressed): string {
  return JSON.stringify({
    eventId,
    eventTime: new Date(eventTime).toISOString(),
    eventType,
    eventData: {
      deviceId,
      fleetId,
      licensePlate: `M-WP ${deviceId.slice(4)}`,
      ...placeOf(deviceId, eventTime),
      speedInKmh: speedOf(deviceId, eventTime),
      ignition: eventType !== 'ignition_off',
    },
  });
}

/** Where the vehicles of the hour were, every half minute. */
export function busyPaths({ fleetId, nowMs, minutes }: BusyHour): PathPoint[] {
  return Array.from({ length: VEHICLES }, (_, vehicle) =>
    Array.from({ length: 2 * minutes }, (__, n): PathPoint => {
      const deviceId = vehicleName(vehicle);
      const eventTime = nowMs - (2 * minutes - n) * (MINUTE_MS / 2);
      return {
        fleetId,
        deviceId,
        eventTime,
        ...placeOf(deviceId, eventTime),
        speedInKmh: speedOf(deviceId, eventTime),
        heading: null,
        ignition: true,
        odometerInMeters: null,
        rpm: null,
        fuelLevel: null,
        valid: true,
      };
    }),
  ).flat();
}

function vehicleName(index: number): string {
  return `van-${String(1 + index).padStart(2, '0')}`;
}

/** Round and round the town. */
function placeOf(deviceId: string, atMs: number): { latitude: number; longitude: number } {
  const [turn, other] = [chance(deviceId, 'turn') * 6, chance(deviceId, 'other') * 6];
  const time = atMs / MINUTE_MS / 11;
  const latitude = 48.137 + 0.035 * Math.sin(0.9 * time + turn) + 0.008 * Math.sin(5.3 * time + other);
  const longitude = 11.575 + 0.06 * Math.sin(0.7 * time + other) + 0.011 * Math.cos(4.7 * time + turn);
  return { latitude: Number(latitude.toFixed(6)), longitude: Number(longitude.toFixed(6)) };
}

function speedOf(deviceId: string, atMs: number): number {
  const time = atMs / MINUTE_MS;
  return Math.max(0, Math.round(38 + 30 * Math.sin(time / 3 + chance(deviceId)) + 14 * Math.sin(time * 2.1)));
}

/** 0 to 1, the same for the same words. */
function chance(...words: readonly (string | number)[]): number {
  return createHash('sha256').update(words.join(' ')).digest().readUInt32BE(0) / 2 ** 32;
}

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
