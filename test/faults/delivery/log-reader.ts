import {
  type AvroCodecs,
  createAvroCodecs,
  createSchemaRegistry,
  resolveBatch,
  topics,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { documentedEventId } from '../../support/documented-event-id.js';
import { disagreement, type LogRecord, readWithOwnFetcher, readWithStockClient } from '../shared/committed-log.js';
import { bodyHash, type ExpectedDelivery, type LoggedAttempt, type LoggedDelivery } from './judge/observations.js';
import { isWanting, type Subscriber } from './subscribers.js';

export interface LogsOptions {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly partitions: number;
  readonly subscribers: readonly Subscriber[];
}

export interface Logs {
  readonly expected: readonly ExpectedDelivery[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly attempts: readonly LoggedAttempt[];
  /** What cannot be read, or is read differently by two clients. */
  readonly problems: readonly string[];
}

/** Everything that was committed, by the product's fetcher and by stock kafkajs, and what has to come of the events. */
export async function readLogs(options: LogsOptions): Promise<Logs> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: options.registryUrl }) });
  const problems: string[] = [];
  const events = await decoded(options, codecs, 'fleetEvents', problems);
  const deliveries = await decoded(options, codecs, 'webhookDeliveries', problems);
  const attempts = await decoded(options, codecs, 'webhookAttempts', problems);
  return {
    expected: expectedOf(
      events.map(({ value }) => value),
      options.subscribers,
    ),
    deliveries: deliveries.map(({ record, value }) => loggedDelivery(record, value)),
    attempts: attempts.map(({ record, value }) => loggedAttempt(record, value)),
    problems,
  };
}

/**
 * kafkajs takes rolled back transactions in the order of their ends, one for each record, and so shows records of some of
 * them where several writers share a partition.
 */
const SEVERAL_WRITERS: ReadonlySet<string> = new Set<Topic>(['webhookDeliveries']);

type Topic = 'fleetEvents' | 'webhookDeliveries' | 'webhookAttempts';
type ValueOf<T extends Topic> = Extract<ReturnType<AvroCodecs[T]['decode']>, { readonly type: 'decoded' }>['value'];

async function decoded<T extends Topic>(
  { kafka, partitions }: LogsOptions,
  codecs: AvroCodecs,
  topic: T,
  problems: string[],
): Promise<{ readonly record: LogRecord; readonly value: ValueOf<T> }[]> {
  const { name } = topics[topic];
  const own = await readWithOwnFetcher(kafka, name, partitions);
  if (!SEVERAL_WRITERS.has(topic)) {
    const difference = disagreement(own, await readWithStockClient(kafka, name, own.length));
    if (difference !== null) problems.push(`${name}: ${difference}`);
  }
  await resolveBatch(codecs[topic], own);
  return own.flatMap((record) => {
    const result = codecs[topic].decode(record.value ?? Buffer.alloc(0));
    if (result.type === 'decoded') return [{ record, value: result.value }];
    problems.push(`${name}: record ${String(record.partition)}/${String(record.offset)} is ${result.type}`);
    return [];
  });
}

/** by the documents, not by the product's own matching. */
function expectedOf(events: readonly ValueOf<'fleetEvents'>[], subscribers: readonly Subscriber[]): ExpectedDelivery[] {
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
