import { createAvroCodecs, createSchemaRegistry, resolveBatch, topics, type WebhookAttempt } from '@waypost/contracts';
import { createKafkaBackend, readToEnd, silentLogger } from '@waypost/streams';
import type { DeliveryStack } from '../stack/delivery-stack.js';
import { EVENT_MARK } from '../sink/request-reader.js';

/** What the benchmark wants of an attempt in the log. */
export interface LoggedAttempt {
  readonly event: number;
  readonly endpoint: number;
  readonly attempt: number;
  readonly dueMs: number;
  readonly startedMs: number;
}

export interface AttemptsLog {
  /** Everything that was committed since `openAttemptsLog`. */
  read(): Promise<LoggedAttempt[]>;
  close(): Promise<void>;
}

/** webhook.attempts from its present end on. */
export async function openAttemptsLog(stack: DeliveryStack, partitions: number): Promise<AttemptsLog> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: stack.registryUrl }) });
  const kafka = { brokers: stack.brokers, clientId: 'bench' };
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const topic = topics.webhookAttempts.name;
  const starts = await Promise.all(
    Array.from({ length: partitions }, (_, partition) => backend.endOffset({ topic, partition })),
  );
  return {
    async read() {
      const found: LoggedAttempt[] = [];
      const fetcher = backend.fetcher();
      try {
        for (const [partition, start] of starts.entries()) {
          await readToEnd(backend, fetcher, { topic, partition }, start, async ({ records }) => {
            await resolveBatch(codecs.webhookAttempts, records);
            for (const { value } of records) {
              const decoded = value === null ? null : codecs.webhookAttempts.decode(value);
              if (decoded?.type === 'decoded') found.push(loggedAttempt(decoded.value));
            }
          });
        }
      } finally {
        await fetcher.close();
      }
      return found;
    },
    close: () => backend.close(),
  };
}

function loggedAttempt({ deviceId, url, attempt, dueAt, startedAt }: WebhookAttempt): LoggedAttempt {
  return {
    event: deviceId.startsWith(EVENT_MARK) ? Number(deviceId.slice(EVENT_MARK.length)) : -1,
    endpoint: Number(/\/(\d+)$/.exec(url)?.[1] ?? -1),
    attempt,
    dueMs: dueAt,
    startedMs: startedAt,
  };
}

export const attemptKey = (event: number, endpoint: number, attempt: number): string =>
  `${String(event)}/${String(endpoint)}/${String(attempt)}`;
