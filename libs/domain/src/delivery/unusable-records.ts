import { isUuid } from '../event/uuid.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { WebhookAttempt } from '../records/webhook-attempt.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import { MAX_TIME_MS } from '../time/instant.js';
import { DAY_MS } from '../time/units.js';
import { recordNumber } from './delivery-fold.js';

/** Why a record is unusable although its schema allows it. */
export interface RecordFault {
  readonly reason: 'invalid_field' | 'key_mismatch';
  readonly detail: string;
}

/** An event id becomes a header of each request. */
const EVENT_ID = /^[\x21-\x7e]{1,200}$/;
const MAX_INT = 2 ** 31 - 1;
const MAX_SENDER_AHEAD_MS = DAY_MS;

export function eventFault(event: Pick<FleetEvent, (typeof EVENT_TIMES)[number]>): RecordFault | null {
  for (const field of EVENT_TIMES) if (!isTime(event[field] ?? 0)) return invalid(field);
  return null;
}

export function deliveryFault(delivery: WebhookDelivery, key: string): RecordFault | null {
  if (delivery.subscriptionId !== key) return { reason: 'key_mismatch', detail: 'the key is not its subscriptionId' };
  return EVENT_ID.test(delivery.eventId) ? null : invalid('eventId');
}

/** Finds what the history cannot store. */
export function attemptFault(attempt: WebhookAttempt, nowMs: number): RecordFault | null {
  if (!isUuid(attempt.eventId)) return invalid('eventId');
  if (attempt.format.includes('\0')) return invalid('format');
  if (!isCount(attempt.series)) return invalid('series');
  if (!isCount(attempt.attempt)) return invalid('attempt');
  if (!isCount(attempt.probes) || !isCount(recordNumber(attempt))) return invalid('probes');
  if (attempt.statusCode !== null && !isCount(attempt.statusCode)) return invalid('statusCode');
  for (const field of TIMES) if (!isTime(attempt[field] ?? 0)) return invalid(field);
  return attempt.firstAttemptAt > nowMs + MAX_SENDER_AHEAD_MS ? invalid('firstAttemptAt') : null;
}

/** requires less than the history does: a sent delivery counts as sent, whatever its event id. */
export function isFoldable(attempt: WebhookAttempt): boolean {
  const { startedAt, durationMs, firstAttemptAt, nextDueAt } = attempt;
  const times = [startedAt, durationMs, firstAttemptAt, nextDueAt ?? 0];
  return attempt.attempt >= 1 && isCount(attempt.probes) && isCount(recordNumber(attempt)) && times.every(isTime);
}

/** Like `attemptFault`, for a delivery without an attempt. */
export function waitingFault(delivery: WebhookDelivery, nowMs: number): RecordFault | null {
  if (!isUuid(delivery.eventId)) return invalid('eventId');
  if (!isCount(delivery.series)) return invalid('series');
  if (!isTime(delivery.eventTime)) return invalid('eventTime');
  return isTime(delivery.createdAt) && delivery.createdAt <= nowMs + MAX_SENDER_AHEAD_MS ? null : invalid('createdAt');
}

/** All of these go into bodies. */
const EVENT_TIMES = ['eventTime', 'locationTime', 'enteredAt', 'startTime', 'endTime'] as const;

const TIMES = [
  'eventTime',
  'deliveryCreatedAt',
  'dueAt',
  'startedAt',
  'firstAttemptAt',
  'nextDueAt',
  'durationMs',
] as const;

function isCount(value: number): boolean {
  return value >= 0 && value <= MAX_INT;
}

function isTime(value: number): boolean {
  return value >= 0 && value <= MAX_TIME_MS;
}

function invalid(field: string): RecordFault {
  return { reason: 'invalid_field', detail: `${field} is out of range` };
}
