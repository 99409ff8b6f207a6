import { type FleetEvent, type WebhookAttempt, type WebhookDelivery } from '@waypost/contracts';
import { documentedEventId } from '../../support/documented-event-id.js';
import { type LogRecord, readValues } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { bodyHash, type ExpectedDelivery, type LoggedAttempt, type LoggedDelivery } from './judge/observations.js';
import { isWanting, type Subscriber } from './subscribers.js';

export interface Logs {
  readonly expected: readonly ExpectedDelivery[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly attempts: readonly LoggedAttempt[];
  /** What cannot be read, or is read differently by two clients. */
  readonly problems: readonly string[];
}

/** Everything that was committed, by the product's fetcher and by stock kafkajs, and what has to come of the events. */
export async function readLogs(log: Log, subscribers: readonly Subscriber[]): Promise<Logs> {
  const problems: string[] = [];
  const events = await readValues(log, 'fleetEvents', { problems, secondReader: true });
  // kafkajs takes rolled back transactions in the order of their ends, one for each record, and so shows records of some
  // of them where several writers share a partition.
  const deliveries = await readValues(log, 'webhookDeliveries', { problems, secondReader: false });
  const attempts = await readValues(log, 'webhookAttempts', { problems, secondReader: true });
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
  const eventId = documentedEventId();
  const wanting = subscribers.filter(isWanting);
  return events.flatMap(({ fleetId, deviceId, eventType, eventTime }) =>
    wanting
      .filter(({ subscription }) => subscription.fleetId === fleetId)
      .map(({ subscription: { id }, path, behaviour }) => ({
        eventId: eventId(fleetId, id, deviceId, eventType, new Date(eventTime).toISOString()),
        ...{ subscriptionId: id, path, behaviour },
      })),
  );
}

function loggedDelivery({ partition, offset, timestamp }: LogRecord, value: WebhookDelivery): LoggedDelivery {
  const { eventId, subscriptionId, body } = value;
  return { eventId, subscriptionId, partition, offset, loggedMs: timestamp, bodyHash: bodyHash(body) };
}

function loggedAttempt({ partition, timestamp }: LogRecord, value: WebhookAttempt): LoggedAttempt {
  const { eventId, deliveryOffset, attempt, dueAt, startedAt, durationMs, statusCode, errorCode } = value;
  const { outcome, decision, nextDueAt, body } = value;
  return {
    ...{ eventId, partition, deliveryOffset, loggedMs: timestamp, attempt, dueAt, startedAt, durationMs },
    ...{ statusCode, errorCode, outcome, decision, nextDueAt },
    bodyHash: body === null ? null : bodyHash(body),
  };
}
