import { storableText } from '@waypost/database';
import { type AttemptEntry, type DeliveryRecord, deliveryStatus, type WebhookAttempt } from '@waypost/domain';

/** The result of some attempts of one delivery. The body is null unless attempt 1 is among them. */
export type FoldedDelivery = Omit<DeliveryRecord, 'body'> & { readonly body: string | null };

/**
 * Folds attempts in log order into one entry per delivery. An attempt counts if its number is higher than all before it;
 * others were logged twice and are ignored. The table applies the same rule to its rows, so any split of the log into
 * batches gives the same rows.
 */
export function foldAttempts(attempts: readonly WebhookAttempt[]): FoldedDelivery[] {
  const deliveries = new Map<string, FoldedDelivery>();
  for (const attempt of attempts) {
    const key = deliveryKey(attempt);
    const before = deliveries.get(key);
    if (before === undefined) deliveries.set(key, firstSeen(attempt));
    else if (attempt.attempt > lastAttemptNumber(before)) deliveries.set(key, withAttempt(before, attempt));
  }
  return [...deliveries.values()];
}

/** Merges two parts of a delivery, `later` being later in the log; null: its attempt 1 is unknown. */
export function mergeDelivery(earlier: DeliveryRecord | undefined, later: FoldedDelivery): DeliveryRecord | null {
  if (earlier === undefined) return later.body === null ? null : { ...later, body: later.body };
  const last = lastAttemptNumber(earlier);
  const added = later.attempts.filter((entry) => entry.attempt > last);
  if (added.length === 0) return earlier;
  const { lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode } = later;
  const attempts = [...earlier.attempts, ...added];
  return { ...earlier, lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode, attempts };
}

/** The identity of a delivery; the time of its first attempt decides its partition. */
export function deliveryKey(delivery: { firstAttemptAt: number; eventId: string; series: number }): string {
  return `${delivery.eventId}/${String(delivery.series)}/${String(delivery.firstAttemptAt)}`;
}

export function lastAttemptNumber(delivery: { readonly attempts: readonly AttemptEntry[] }): number {
  return delivery.attempts.at(-1)?.attempt ?? 0;
}

function firstSeen(attempt: WebhookAttempt): FoldedDelivery {
  return {
    eventId: attempt.eventId,
    series: attempt.series,
    eventType: storableText(attempt.eventType),
    eventTime: attempt.eventTime,
    deviceId: storableText(attempt.deviceId),
    subscriptionId: storableText(attempt.subscriptionId),
    fleetId: storableText(attempt.fleetId),
    format: attempt.format,
    // Of the first attempt: the URL of a subscription may change later.
    url: storableText(attempt.url),
    createdAt: attempt.deliveryCreatedAt,
    firstAttemptAt: attempt.firstAttemptAt,
    body: attempt.body === null ? null : storableText(attempt.body),
    ...stateAfter(attempt),
    attempts: [attemptEntry(attempt)],
  };
}

function withAttempt(before: FoldedDelivery, attempt: WebhookAttempt): FoldedDelivery {
  return { ...before, ...stateAfter(attempt), attempts: [...before.attempts, attemptEntry(attempt)] };
}

/** What the newest attempt decides. */
function stateAfter(attempt: WebhookAttempt) {
  const status = deliveryStatus(attempt.outcome);
  return {
    lastAttemptAt: attempt.startedAt,
    deliveredAt: status === 'delivered' ? attempt.startedAt + attempt.durationMs : null,
    nextAttemptAt: status === 'pending' ? attempt.nextDueAt : null,
    status,
    statusCode: attempt.statusCode,
  };
}

function attemptEntry(attempt: WebhookAttempt): AttemptEntry {
  const { startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision } = attempt;
  return { attempt: attempt.attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision };
}

/**
 * An attempt in the `attempts` column: values by position, because names would take more space than the values. SQL relies
 * on the number being first. Append new fields at the end.
 */
type PackedAttempt = readonly [
  attempt: number,
  startedAt: number,
  dueAt: number,
  durationMs: number,
  statusCode: number | null,
  errorCode: string | null,
  outcome: string,
  decision: string,
];

/** The JSON text of some attempts: `[[1,...],[2,...]]`. Adding attempts to a delivery joins two of these. */
export function packAttempts(attempts: readonly AttemptEntry[]): string {
  return JSON.stringify(attempts.map(pack));
}

export function unpackAttempts(text: string): AttemptEntry[] {
  return (JSON.parse(text) as PackedAttempt[]).map(unpack);
}

function pack(entry: AttemptEntry): PackedAttempt {
  const { attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision } = entry;
  return [attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision];
}

function unpack(packed: PackedAttempt): AttemptEntry {
  const [attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision] = packed;
  return { attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision };
}
