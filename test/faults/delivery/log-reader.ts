import type { FleetEvent, ReplayProgress, WebhookAttempt, WebhookDelivery } from '@waypost/domain';
import { documentedEventId } from '../../support/documented-event-id.js';
import { groupBy } from '../../support/group-by.js';
import { plainPayload } from '../../support/plain-payload.js';
import { inTurns, type LogValue, readKept, type ReadOptions, readValues } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import {
  bodyHash,
  type ExpectedDelivery,
  identityOf,
  type LoggedAttempt,
  type LoggedDelivery,
  type OutageReport,
  type Receipt,
  type SettingsVersion,
} from './judge/observations.js';
import { type KnownSettings, knownSettings } from './judge/settings.js';
import { expectedOfReplay, idInSeries, idOfFirst, type PlacedAttempt, type RequestedReplay } from './replays.js';
import { isWantedBy, type Subscriber, wants } from './subscribers.js';

export interface Logs {
  readonly expected: readonly ExpectedDelivery[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly attempts: readonly LoggedAttempt[];
  readonly outageReports: readonly OutageReport[];
  /** What cannot be read, or is read differently by two clients. */
  readonly problems: readonly string[];
}

export interface ReadLogsOptions extends Pick<ReadOptions, 'secondReader'> {
  readonly replays: readonly RequestedReplay[];
  /** Of the subscriptions that were changed. */
  readonly versions: readonly SettingsVersion[];
}

/** Everything that was committed, by the product's fetcher and by stock kafkajs, and what has to come of the events. */
export async function readLogs(
  log: Log,
  subscribers: readonly Subscriber[],
  { secondReader, replays, versions }: ReadLogsOptions,
): Promise<Logs> {
  const problems: string[] = [];
  const events = await readValues(log, 'fleetEvents', { problems, secondReader });
  // kafkajs takes rolled back transactions in the order of their ends, one for each record, and so shows records of some
  // of them where several writers share a partition.
  const deliveries = await readKept(log, 'webhookDeliveries', { problems, secondReader: false }, loggedDelivery);
  const attempts = await readKept(log, 'webhookAttempts', { problems, secondReader }, loggedAttempt);
  const held = new Set(subscribers.flatMap((one) => (one.behavior === 'outage' ? [one.subscription.id] : [])));
  const reports = await readValues(log, 'webhookOperations', { problems, secondReader: false });
  const progress = new Map<string, ReplayProgress>();
  for (const { value } of await readValues(log, 'replayProgress', { problems, secondReader: false }))
    progress.set(value.replayId, value);
  const expected = await expectedOf(
    events.map(({ record, value }) => ({
      event: value,
      appendedMs: record.timestamp,
      traceparent: record.traceparent,
    })),
    subscribers,
    {
      settings: knownSettings(versions),
      createdMs: new Map(
        deliveries.flatMap(({ series, eventId, createdAt }) => (series === 0 ? [[eventId, createdAt]] : [])),
      ),
    },
  );
  const firstOf = groupBy(expected, ({ subscriptionId }) => subscriptionId);
  const replayedIds = new Set(replays.map(({ replay }) => replay.subscriptionId));
  const placed = groupBy(
    attempts.flatMap((one) => (replayedIds.has(one.subscriptionId) ? [placedAttempt(one)] : [])),
    ({ value }) => value.subscriptionId,
  );
  // There are thousands of replays in a long run, each of one subscription.
  const replayed = replays.flatMap((requested) => {
    const { subscriptionId } = requested.replay;
    const ofSubscription = {
      expected: firstOf.get(subscriptionId) ?? [],
      attempts: placed.get(subscriptionId) ?? [],
    };
    return expectedOfReplay(requested, { ...ofSubscription, progress, problems });
  });
  return {
    expected: [...expected, ...replayed],
    deliveries,
    attempts,
    outageReports: reports.flatMap(({ value: { subscriptionId, type, occurredAt } }) =>
      held.has(subscriptionId) ? [{ subscriptionId, type, occurredAt }] : [],
    ),
    problems,
  };
}

/** How many first deliveries there have to be, where no subscription is changed. A tenth of the work of reading all logs. */
export async function countExpected(log: Log, subscribers: readonly Subscriber[]): Promise<number> {
  const byFleet = groupBy(subscribers, ({ subscription }) => subscription.fleetId);
  const options = { problems: [], secondReader: false };
  const counts = await readKept(
    log,
    'fleetEvents',
    options,
    ({ value }) => (byFleet.get(value.fleetId) ?? []).filter((one) => wants(one, value)).length,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** by the documents, not by the product's own matching. */
async function expectedOf(
  events: readonly LoggedEvent[],
  subscribers: readonly Subscriber[],
  fanOut: FanOut,
): Promise<ExpectedDelivery[]> {
  const makeId = documentedEventId();
  const byFleet = groupBy(subscribers, ({ subscription }) => subscription.fleetId);
  return inTurns(events, ({ event, appendedMs, traceparent }): ExpectedDelivery[] => {
    const { fleetId, deviceId, eventType, eventTime, resourceId } = event;
    const resource = resourceId === null ? [] : [resourceId];
    const idFor = ({ subscription: { id } }: Subscriber): string =>
      makeId(fleetId, id, deviceId, eventType, new Date(eventTime).toISOString(), ...resource);
    const ofFleet = byFleet.get(fleetId) ?? [];
    const witness = ofFleet.find((one) => one.change === null && wants(one, event));
    const fannedOutMs = witness && fanOut.createdMs.get(idFor(witness));
    const met = { ...fanOut, appendedMs, fannedOutMs: fannedOutMs ?? Infinity };
    const wanting = ofFleet.filter((one) => isOwed(one, event, idFor(one), met));
    return wanting.map((one) => {
      const { path, behavior, subscription, change } = one;
      const { id, url, payloadFormat: format, strictOrder, rateLimitPerSecond } = subscription;
      const ratePerSecond = change === null ? rateLimitPerSecond : null;
      const eventId = idFor(one);
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

interface LoggedEvent {
  readonly event: FleetEvent;
  /** When the broker appended it. */
  readonly appendedMs: number;
  readonly traceparent: string | null;
}

interface FanOut {
  readonly settings: KnownSettings;
  /** When first deliveries were made, by their event ids. */
  readonly createdMs: ReadonlyMap<string, number>;
}

/** Some time after it was appended, and before a delivery was made of it, an event met the settings of a subscription. */
export interface Met extends FanOut {
  readonly appendedMs: number;
  readonly fannedOutMs: number;
}

/** Where one of several settings may have been met, what was made of the event is right. */
export function isOwed(one: Subscriber, event: FleetEvent, eventId: string, met: Met): boolean {
  if (one.change === null) return wants(one, event);
  const { settings, createdMs, appendedMs, fannedOutMs } = met;
  const untilMs = Math.max(fannedOutMs, createdMs.get(eventId) ?? 0);
  const possible = settings.during(one.subscription.id, appendedMs, untilMs, 'knownMs');
  const isWanted = possible.map((version) => isWantedBy(version, event));
  return isWanted.every((wanted) => wanted) || (isWanted.includes(true) && createdMs.has(eventId));
}

function inSeries(value: WebhookDelivery | WebhookAttempt) {
  return { ...identityOf(value), eventId: idInSeries(value.eventId, value.series) };
}

/**
 * A POST does not say its series: it is of one that logged an attempt at that time, or else of the newest by then. Two
 * replays may send an event within milliseconds, so an attempt that no POST is of yet comes first.
 */
export function receiptsInSeries(receipts: readonly Receipt[], { deliveries, attempts }: Logs): Receipt[] {
  const baseOf = ({ eventId }: { readonly eventId: string }): string => idOfFirst(eventId);
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

function loggedDelivery({ record, value }: LogValue<WebhookDelivery>): LoggedDelivery {
  const { partition, offset, timestamp } = record;
  const { createdAt, body } = value;
  return { ...inSeries(value), createdAt, partition, offset, loggedMs: timestamp, bodyHash: bodyHash(body) };
}

function loggedAttempt({ record, value }: LogValue<WebhookAttempt>): LoggedAttempt {
  const { partition, offset, timestamp } = record;
  const { url, deliveryOffset, deliveryCreatedAt, firstAttemptAt, attempt, dueAt, startedAt, durationMs } = value;
  const { statusCode, errorCode, errorDetail, outcome, decision, nextDueAt, retryAfterMs, body, probe, probes } = value;
  return {
    ...inSeries(value),
    url,
    partition,
    offset,
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

function placedAttempt(one: LoggedAttempt): PlacedAttempt {
  const { offset, loggedMs, eventId } = one;
  return { record: { offset, timestamp: loggedMs }, value: { ...one, eventId: idOfFirst(eventId) } };
}
