import { deliveryStatus, type AttemptEntry, type DeliveryRecord, type WebhookAttempt } from '@waypost/domain';
import { storableText } from '@waypost/database';

/** What some attempts of one delivery add up to. The body is null unless attempt 1 is among them. */
export type FoldedDelivery = Omit<DeliveryRecord, 'body'> & { readonly body: string | null };

/**
 * Folds attempts in log order into one entry a delivery. An attempt counts when its number is above all those before it;
 * others were logged twice and are ignored. Because the table applies the same rule to what it holds, any split of the
 * log into batches gives the same rows.
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

/** The delivery that both halves describe, `later` being from further on in the log; null: its attempt 1 is unknown. */
export function mergeDelivery(earlier: DeliveryRecord | undefined, later: FoldedDelivery): DeliveryRecord | null {
  if (earlier === undefined) return later.body === null ? null : { ...later, body: later.body };
  const last = lastAttemptNumber(earlier);
  const added = later.attempts.filter((entry) => entry.attempt > last);
  if (added.length === 0) return earlier;
  const { url, lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode } = later;
  const attempts = [...earlier.attempts, ...added];
  return { ...earlier, url, lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode, attempts };
}

/** Identity of a delivery; the first attempt's time tells which day's partition holds it. */
export const deliveryKey = (of: { firstAttemptAt: number; eventId: string; series: number }): string =>
  `${of.eventId}/${String(of.series)}/${String(of.firstAttemptAt)}`;

export const lastAttemptNumber = (of: { readonly attempts: readonly AttemptEntry[] }): number =>
  of.attempts.at(-1)?.attempt ?? 0;

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
    createdAt: attempt.deliveryCreatedAt,
    firstAttemptAt: attempt.firstAttemptAt,
    body: attempt.body === null ? null : storableText(attempt.body),
    ...standAfter(attempt),
    attempts: [attemptEntry(attempt)],
  };
}

function withAttempt(before: FoldedDelivery, attempt: WebhookAttempt): FoldedDelivery {
  return { ...before, ...standAfter(attempt), attempts: [...before.attempts, attemptEntry(attempt)] };
}

/** What the newest attempt decides. The URL is the one it went to: a subscription may move between two attempts. */
function standAfter(attempt: WebhookAttempt) {
  const status = deliveryStatus(attempt.outcome);
  return {
    url: storableText(attempt.url),
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
