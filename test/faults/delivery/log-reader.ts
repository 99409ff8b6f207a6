import { type FleetEvent, type WebhookAttempt, type WebhookDelivery } from '@waypost/contracts';
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
} from './judge/observations.js';
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
  { secondReader }: Pick<ReadOptions, 'secondReader'>,
): Promise<Logs> {
  const problems: string[] = [];
  const events = await readValues(log, 'fleetEvents', { problems, secondReader });
  // kafkajs takes rolled back transactions in the order of their ends, one for each record, and so shows records of some
  // of them where several writers share a partition.
  const deliveries = await readValues(log, 'webhookDeliveries', { problems, secondReader: false });
  const attempts = await readValues(log, 'webhookAttempts', { problems, secondReader });
  return {
    expected: expectedOf(
      events.map(({ value }) => value),
      subscribers,
    ),
    deliveries: deliveries.map(({ record, value }) => loggedDelivery(record, value)),
    attempts: attempts.map(({ record, value }) => loggedAttempt(record, value)),
    problems,
  };
}

/** by the documents, not by the product's own matching. */
function expectedOf(events: readonly FleetEvent[], subscribers: readonly Subscriber[]): ExpectedDelivery[] {
  const makeId = documentedEventId();
  const byFleet = groupBy(subscribers, ({ subscription }) => subscription.fleetId);
  return events.flatMap((event) => {
    const { fleetId, deviceId, eventType, eventTime, resourceId } = event;
    const wanting = (byFleet.get(fleetId) ?? []).filter((one) => wants(one, event));
    return wanting.map(({ subscription, path, behaviour }) => {
      const { id, url, payloadFormat: format, strictOrder, rateLimitPerSecond: ratePerSecond } = subscription;
      const resource = resourceId === null ? [] : [resourceId];
      const eventId = makeId(fleetId, id, deviceId, eventType, new Date(eventTime).toISOString(), ...resource);
      return {
        ...{ eventId, subscriptionId: id, fleetId, deviceId, eventType, eventTime, format, series: 0 },
        ...{ path, url, behaviour, strictOrder, ratePerSecond },
        bodyHash: bodyHash(plainPayload(event, eventId, format)),
      };
    });
  });
}

function loggedDelivery({ partition, offset, timestamp }: LogRecord, value: WebhookDelivery): LoggedDelivery {
  const { createdAt, body } = value;
  return { ...identityOf(value), createdAt, partition, offset, loggedMs: timestamp, bodyHash: bodyHash(body) };
}

function loggedAttempt({ partition, timestamp }: LogRecord, value: WebhookAttempt): LoggedAttempt {
  const { url, deliveryOffset, deliveryCreatedAt, firstAttemptAt, attempt, dueAt, startedAt, durationMs } = value;
  const { statusCode, errorCode, outcome, decision, nextDueAt, body, probe, probes } = value;
  return {
    ...{ ...identityOf(value), url, partition, deliveryOffset, deliveryCreatedAt, firstAttemptAt, loggedMs: timestamp },
    ...{ attempt, dueAt, startedAt, durationMs, statusCode, errorCode, outcome, decision, nextDueAt, probe, probes },
    bodyHash: body === null ? null : bodyHash(body),
  };
}
