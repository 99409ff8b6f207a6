import type { FleetEvent, ReplayProgress, WebhookAttempt, WebhookDelivery, WebhookReplay } from '@waypost/domain';
import { documentedEventId } from '../../support/documented-event-id.js';
import { groupBy } from '../../support/group-by.js';
import { plainPayload } from '../../support/plain-payload.js';
import { type LogRecord, type ReadOptions, readValues } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import {
  bodyHash,
  type ExpectedDelivery,
  identityOf,
  type LoggedAttempt,
  type LoggedDelivery,
  type Receipt,
} from './judge/observations.js';
import { expectedOfReplay, idInSeries } from './replays.js';
import { type Subscriber, wants } from './subscribers.js';

export interface Logs {
  readonly expected: readonly ExpectedDelivery[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly attempts: readonly LoggedAttempt[];
  /** What cannot be read, or is read differently by two clients. */
  readonly problems: readonly string[];
}

/** Everything that was committed, by the product's fetcher and by stock kafkajs, and what has to come of the events. */
export async function readLogs(
  log: Log,
  subscribers: readonly Subscriber[],
  { secondReader, replays }: Pick<ReadOptions, 'secondReader'> & { readonly replays: readonly WebhookReplay[] },
): Promise<Logs> {
  const problems: string[] = [];
  const events = await readValues(log, 'fleetEvents', { problems, secondReader });
  // kafkajs takes rolled back transactions in the order of their ends, one for each record, and so shows records of some
  // of them where several writers share a partition.
  const deliveries = await readValues(log, 'webhookDeliveries', { problems, secondReader: false });
  const attempts = await readValues(log, 'webhookAttempts', { problems, secondReader });
  const progress = new Map<string, ReplayProgress>();
  for (const { value } of await readValues(log, 'replayProgress', { problems, secondReader: false }))
    progress.set(value.replayId, value);
  const expected = expectedOf(
    events.map(({ record, value }) => ({ event: value, traceparent: record.traceparent })),
    subscribers,
  );
  const evidence = { expected, attempts, progress, problems };
  return {
    expected: [...expected, ...replays.flatMap((replay) => expectedOfReplay(replay, evidence))],
    deliveries: deliveries.map(({ record, value }) => loggedDelivery(record, value)),
    attempts: attempts.map(({ record, value }) => loggedAttempt(record, value)),
    problems,
  };
}

/** by the documents, not by the product's own matching. */
function expectedOf(
  events: readonly { readonly event: FleetEvent; readonly traceparent: string | null }[],
  subscribers: readonly Subscriber[],
): ExpectedDelivery[] {
  const makeId = documentedEventId();
  const byFleet = groupBy(subscribers, ({ subscription }) => subscription.fleetId);
  return events.flatMap(({ event, traceparent }) => {
    const { fleetId, deviceId, eventType, eventTime, resourceId } = event;
    const wanting = (byFleet.get(fleetId) ?? []).filter((one) => wants(one, event));
    return wanting.map(({ subscription, path, behavior }) => {
      const { id, url, payloadFormat: format, strictOrder, rateLimitPerSecond: ratePerSecond } = subscription;
      const resource = resourceId === null ? [] : [resourceId];
      const eventId = makeId(fleetId, id, deviceId, eventType, new Date(eventTime).toISOString(), ...resource);
      return {
        eventId,
        subscriptionId: id,
        fleetId,
        deviceId,
        eventType,
        eventTime,
        format,
        series: 0,
        replayId: null,
        path,
        url,
        behavior,
        strictOrder,
        ratePerSecond,
        bodyHash: bodyHash(plainPayload(event, eventId, format)),
        traceparent,
      };
    });
  });
}

function inSeries(value: WebhookDelivery | WebhookAttempt) {
  return { ...identityOf(value), eventId: idInSeries(value.eventId, value.series) };
}

/**
 * A POST does not say its series: it is of one that logged an attempt at that time, or else of the newest by then. Two
 * replays may send an event within milliseconds, so an attempt that no POST is of yet comes first.
 */
export function receiptsInSeries(receipts: readonly Receipt[], { deliveries, attempts }: Logs): Receipt[] {
  const baseOf = ({ eventId }: { readonly eventId: string }): string => eventId.split('/')[0] ?? '';
  const replayed = groupBy(
    deliveries.filter(({ series }) => series > 0),
    baseOf,
  );
  const logged = groupBy(
    attempts.filter((one) => replayed.has(baseOf(one))),
    baseOf,
  );
  const received = new Set<LoggedAttempt>();
  return receipts.map((receipt) => {
    const { eventId, attempt, receivedMs } = receipt;
    const replays = replayed.get(eventId);
    if (replays === undefined) return receipt;
    const candidates = (logged.get(eventId) ?? []).filter(
      ({ attempt: number, startedAt, durationMs }) =>
        number === attempt && receivedMs >= startedAt - CLOCK_MS && receivedMs <= startedAt + durationMs + CLOCK_MS,
    );
    const own = candidates.find((one) => !received.has(one)) ?? candidates[0];
    if (own) received.add(own);
    const newest = replays.findLast(({ loggedMs }) => loggedMs <= receivedMs);
    return { ...receipt, eventId: own?.eventId ?? newest?.eventId ?? eventId };
  });
}

/** Times are whole milliseconds of one machine's clock. */
const CLOCK_MS = 2;

function loggedDelivery({ partition, offset, timestamp }: LogRecord, value: WebhookDelivery): LoggedDelivery {
  const { createdAt, body } = value;
  return { ...inSeries(value), createdAt, partition, offset, loggedMs: timestamp, bodyHash: bodyHash(body) };
}

function loggedAttempt({ partition, timestamp }: LogRecord, value: WebhookAttempt): LoggedAttempt {
  const { url, deliveryOffset, deliveryCreatedAt, firstAttemptAt, attempt, dueAt, startedAt, durationMs } = value;
  const { statusCode, errorCode, errorDetail, outcome, decision, nextDueAt, retryAfterMs, body, probe, probes } = value;
  return {
    ...inSeries(value),
    url,
    partition,
    deliveryOffset,
    deliveryCreatedAt,
    firstAttemptAt,
    loggedMs: timestamp,
    attempt,
    dueAt,
    startedAt,
    durationMs,
    statusCode,
    errorCode,
    errorDetail,
    outcome,
    decision,
    nextDueAt,
    retryAfterMs,
    probe,
    probes,
    bodyHash: body === null ? null : bodyHash(body),
  };
}
