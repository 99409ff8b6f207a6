import type { TelemetryPing, WebhookAttempt, WebhookDelivery } from '@waypost/domain';

/** A row of `deliveries` as text, column by column, the way PostgreSQL shows it (times: epoch milliseconds). */
export type Row = Readonly<Record<RowColumn, string | null>>;

export const ROW_COLUMNS = [
  ...([
    'event_id',
    'series',
    'fleet_id',
    'device_id',
    'subscription_id',
    'event_type',
    'event_time',
    'format',
    'replay_id',
  ] as const),
  ...(['url', 'body', 'created_at', 'first_attempt_at', 'last_attempt_at', 'delivered_at', 'next_attempt_at'] as const),
  ...(['status', 'status_code', 'last_attempt', 'attempts', 'day'] as const),
] as const;
export type RowColumn = (typeof ROW_COLUMNS)[number];

const DAY_MS = 86_400_000;
const KEPT_MS = 15 * DAY_MS;

/**
 * What the table must hold, written down from the documents alone (R-24, R-35, libs/history-store/README.md) and without
 * any of the product's own folding.
 *
 * @param attempts in the order of the log
 */
export function foldLog(attempts: readonly WebhookAttempt[], nowMs: number): Map<string, Row> {
  const deliveries = new Map<string, WebhookAttempt[]>();
  for (const attempt of attempts) {
    if (isDayOver(attempt.firstAttemptAt, nowMs)) continue;
    const key = rowKey(attempt.eventId, String(attempt.series));
    const before = deliveries.get(key) ?? [];
    // The first record has the body; without it there is nothing to show.
    if (before.length === 0 && numberOf(attempt) !== 1) continue;
    const [last] = before.slice(-1);
    if (numberOf(attempt) > (last ? numberOf(last) : 0)) deliveries.set(key, [...before, attempt]);
  }
  return new Map([...deliveries].map(([key, of]) => [key, rowOf(of)]));
}

/** A day leaves the history as a whole. */
function isDayOver(at: number, nowMs: number): boolean {
  return at - (at % DAY_MS) + DAY_MS <= nowMs - KEPT_MS;
}

/** Attempts and probes of a delivery count together. */
function numberOf({ attempt, probe, probes }: WebhookAttempt): number {
  return probe ? attempt - 1 + probes : attempt + probes;
}

export function rowKey(eventId: string, series: string): string {
  return `${eventId}/${series}`;
}

/** What ends without an attempt is shown as failed. */
const STATUS_OF: Readonly<Record<string, string>> = { retrying: 'pending', expired: 'failed' };

function rowOf(attempts: readonly WebhookAttempt[]): Row {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) throw new Error('A delivery has at least one attempt.');
  const { outcome, startedAt, durationMs, nextDueAt } = last;
  const status = STATUS_OF[outcome] ?? outcome;
  return {
    event_id: first.eventId,
    series: String(first.series),
    fleet_id: stored(first.fleetId),
    device_id: stored(first.deviceId),
    subscription_id: stored(first.subscriptionId),
    event_type: stored(first.eventType),
    event_time: String(first.eventTime),
    format: first.format,
    replay_id: first.replayId,
    url: stored(first.url),
    body: stored(first.body ?? ''),
    created_at: String(first.deliveryCreatedAt),
    first_attempt_at: String(first.firstAttemptAt),
    last_attempt_at: String(startedAt),
    delivered_at: status === 'delivered' ? String(startedAt + durationMs) : null,
    next_attempt_at: status === 'pending' ? String(nextDueAt) : null,
    status,
    status_code: last.statusCode === null ? null : String(last.statusCode),
    last_attempt: String(numberOf(last)),
    attempts: JSON.stringify(attempts.filter((one) => hasLine(one, last.probes)).map(entryOf)),
    day: `deliveries_${new Date(first.firstAttemptAt).toISOString().slice(0, 10).replaceAll('-', '')}`,
  };
}

/** Every attempt has a line; of the probes the first 20 and the newest 20. */
function hasLine({ probe, probes }: WebhookAttempt, allProbes: number): boolean {
  return !probe || probes <= 20 || probes > allProbes - 20;
}

function entryOf(of: WebhookAttempt): unknown[] {
  const { startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision, probe, probes } = of;
  const entry = [numberOf(of), startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision];
  const probed = [...entry, probes, probe ? 1 : 0];
  const texts = [of.errorDetail, of.responseBody].map((text) => (text === null ? null : stored(text)));
  if (texts.some((text) => text !== null)) return [...probed, ...texts];
  return probes === 0 ? entry : probed;
}

/** PostgreSQL text has no U+0000. */
function stored(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

export const WAITING_COLUMNS = [
  ...(['event_id', 'series', 'fleet_id', 'device_id', 'subscription_id', 'event_type', 'event_time'] as const),
  ...(['format', 'replay_id', 'body', 'created_at'] as const),
] as const;
export type WaitingRow = Readonly<Record<(typeof WAITING_COLUMNS)[number], string | null>>;

export interface ExpectedWaiting {
  /** Without an attempt: each is shown as it was created. */
  readonly waiting: ReadonlyMap<string, WaitingRow>;
  /** Of those that have ended none may be shown. One that is being tried may still be, or may never have been. */
  readonly ended: ReadonlySet<string>;
}

/** @param attempts all of the log: the head of a delivery may be lost */
export function foldWaiting(
  deliveries: readonly WebhookDelivery[],
  attempts: readonly WebhookAttempt[],
  nowMs: number,
): ExpectedWaiting {
  const tried = new Set<string>();
  const ended = new Set<string>();
  for (const { eventId, series, outcome } of attempts) {
    const key = rowKey(eventId, String(series));
    tried.add(key);
    if (outcome !== 'retrying') ended.add(key);
  }
  const waiting = new Map<string, WaitingRow>();
  for (const delivery of deliveries) {
    const key = rowKey(delivery.eventId, String(delivery.series));
    if (!tried.has(key) && !isDayOver(delivery.createdAt, nowMs)) waiting.set(key, waitingRowOf(delivery));
  }
  return { waiting, ended };
}

function waitingRowOf(of: WebhookDelivery): WaitingRow {
  return {
    event_id: of.eventId,
    series: String(of.series),
    fleet_id: stored(of.fleetId),
    device_id: stored(of.deviceId),
    subscription_id: stored(of.subscriptionId),
    event_type: stored(of.eventType),
    event_time: String(of.eventTime),
    format: of.format,
    replay_id: of.replayId,
    body: stored(of.body),
    created_at: String(of.createdAt),
  };
}

export const POINT_COLUMNS = [
  ...(['fleet_id', 'device_id', 'event_time', 'latitude', 'longitude', 'speed_in_kmh', 'heading'] as const),
  ...(['ignition', 'odometer_in_meters', 'rpm', 'fuel_level', 'valid'] as const),
] as const;
export type PointColumn = (typeof POINT_COLUMNS)[number];

/**
 * The paths: of the pings of one device and time the first in the log, as POINT_COLUMNS. All pings of the suite are
 * of the last days, and well formed.
 *
 * @param pings in the order of the log
 */
export function foldPings(pings: readonly TelemetryPing[]): string[] {
  const points = new Map<string, string>();
  for (const ping of pings) {
    const { fleetId, deviceId, eventTime, latitude, longitude, speedInKmh, heading, ignition } = ping;
    const key = `${fleetId} ${deviceId} ${String(eventTime)}`;
    if (points.has(key)) continue;
    const values = [
      latitude,
      longitude,
      speedInKmh,
      heading,
      ignition,
      ping.odometerInMeters,
      ping.rpm,
      ping.fuelLevel,
    ];
    points.set(key, [key, ...values, isValidFix(ping)].map(String).join(' '));
  }
  return [...points.values()];
}

/** */
function isValidFix({ positionValid, latitude, longitude }: TelemetryPing): boolean {
  if (!positionValid || latitude === null || longitude === null) return false;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && !(latitude === 0 && longitude === 0);
}
