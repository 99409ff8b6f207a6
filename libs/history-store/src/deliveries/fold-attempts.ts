import { storableText } from '@waypost/database';
import {
  type AttemptEntry,
  type DeliveryRecord,
  deliveryStatus,
  probeCount,
  recordNumber,
  type WebhookAttempt,
} from '@waypost/domain';

/** A subscription held for 15 days makes 86,400 probes: only this many of the first and of the newest ones have a line. */
export const PROBE_LINES = 20;

/** The result of some attempts and probes of one delivery. The body is null unless the first of them is included. */
export type FoldedDelivery = Omit<DeliveryRecord, 'body'> & { readonly body: string | null };

/**
 * Folds attempts in log order into one entry per delivery. A record counts if its number is higher than all before it;
 * others were logged twice and are ignored. The table applies the same rule to its rows, so any split of the log into
 * batches gives the same rows.
 */
export function foldAttempts(attempts: readonly WebhookAttempt[]): FoldedDelivery[] {
  const deliveries = new Map<string, FoldedDelivery>();
  for (const attempt of attempts) {
    const key = deliveryKey(attempt);
    const before = deliveries.get(key);
    if (before === undefined) deliveries.set(key, firstSeen(attempt));
    else if (recordNumber(attempt) > lastRecordNumber(before)) deliveries.set(key, withAttempt(before, attempt));
  }
  return [...deliveries.values()];
}

/** The identity of a delivery; the time of its first attempt decides its partition. */
export function deliveryKey(delivery: { firstAttemptAt: number; eventId: string; series: number }): string {
  return `${delivery.eventId}/${String(delivery.series)}/${String(delivery.firstAttemptAt)}`;
}

type WithAttempts = Pick<DeliveryRecord, 'attempts'>;

export function lastRecordNumber({ attempts }: WithAttempts): number {
  const last = attempts.at(-1);
  return last ? recordNumber(last) : 0;
}

export function hasManyProbes(delivery: WithAttempts): boolean {
  return probeCount(delivery) > 2 * PROBE_LINES;
}

export function withoutOldProbes(attempts: readonly AttemptEntry[]): readonly AttemptEntry[] {
  if (!hasManyProbes({ attempts })) return attempts;
  const newestFrom = probeCount({ attempts }) - PROBE_LINES;
  return attempts.filter(({ probe, probes }) => !probe || probes <= PROBE_LINES || probes > newestFrom);
}

function firstSeen(attempt: WebhookAttempt): FoldedDelivery {
  return {
    eventId: attempt.eventId,
    series: attempt.series,
    replayId: attempt.replayId === null ? null : storableText(attempt.replayId),
    eventType: storableText(attempt.eventType),
    eventTime: attempt.eventTime,
    deviceId: storableText(attempt.deviceId),
    subscriptionId: storableText(attempt.subscriptionId),
    fleetId: storableText(attempt.fleetId),
    format: attempt.format,
    // The URL of the first attempt: that of a subscription may change later.
    url: storableText(attempt.url),
    createdAt: attempt.deliveryCreatedAt,
    firstAttemptAt: attempt.firstAttemptAt,
    body: attempt.body === null ? null : storableText(attempt.body),
    ...stateAfter(attempt),
    attempts: [attemptEntry(attempt)],
  };
}

function withAttempt(before: FoldedDelivery, attempt: WebhookAttempt): FoldedDelivery {
  return { ...before, ...stateAfter(attempt), attempts: withoutOldProbes([...before.attempts, attemptEntry(attempt)]) };
}

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
  const { probe, probes, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision } = attempt;
  const { errorDetail, responseBody } = attempt;
  return {
    attempt: attempt.attempt,
    probe,
    probes,
    startedAt,
    dueAt,
    durationMs,
    statusCode,
    errorCode,
    outcome,
    decision,
    // PostgreSQL accepts an escaped U+0000 in JSON, and refuses it when it looks inside.
    errorDetail: errorDetail === null ? null : storableText(errorDetail),
    responseBody: responseBody === null ? null : storableText(responseBody),
  };
}

/**
 * An attempt in the `attempts` column: values by position, because names would take more space than the values. SQL
 * depends on the positions of the number and of the probe mark. Append new fields at the end.
 */
type PackedAttempt = readonly [
  recordNumber: number,
  startedAt: number,
  dueAt: number,
  durationMs: number,
  statusCode: number | null,
  errorCode: string | null,
  outcome: string,
  decision: string,
  /** Absent, with all that follow, in the many attempts that need none of them. */
  probes?: number,
  /** 1: it is a probe. */
  probe?: 0 | 1,
  errorDetail?: string | null,
  responseBody?: string | null,
];

/** The JSON text of attempts: `[[1,...],[2,...]]`. To add attempts to a delivery, join two of these. */
export function packAttempts(attempts: readonly AttemptEntry[]): string {
  return JSON.stringify(attempts.map(pack));
}

export function unpackAttempts(text: string): AttemptEntry[] {
  return (JSON.parse(text) as PackedAttempt[]).map(unpack);
}

function pack(entry: AttemptEntry): PackedAttempt {
  const { probes, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision } = entry;
  const { errorDetail, responseBody } = entry;
  const number = recordNumber(entry);
  const isExplained = errorDetail !== null || responseBody !== null;
  if (probes === 0 && !isExplained)
    return [number, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision];
  const probe = entry.probe ? 1 : 0;
  if (!isExplained)
    return [number, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision, probes, probe];
  return [
    number,
    startedAt,
    dueAt,
    durationMs,
    statusCode,
    errorCode,
    outcome,
    decision,
    probes,
    probe,
    errorDetail,
    responseBody,
  ];
}

function unpack(packed: PackedAttempt): AttemptEntry {
  const [number, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision, probes = 0, mark = 0] = packed;
  const [errorDetail = null, responseBody = null] = [packed[10], packed[11]];
  return {
    attempt: number - probes + mark,
    probe: mark === 1,
    probes,
    startedAt,
    dueAt,
    durationMs,
    statusCode,
    errorCode,
    outcome,
    decision,
    errorDetail,
    responseBody,
  };
}
