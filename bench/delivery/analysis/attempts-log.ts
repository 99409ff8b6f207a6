import { createAvroCodecs, createSchemaRegistry, resolveBatch, topics, type WebhookAttempt } from '@waypost/contracts';
import { createKafkaBackend, readToEnd, silentLogger } from '@waypost/streams';
import { type BenchStack, PARTITIONS } from '../../shared/stack/bench-stack.js';
import { EVENT_MARK } from '../sink/origin.js';
import type { Delivery } from './deliveries.js';

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
export async function openAttemptsLog(stack: BenchStack): Promise<AttemptsLog> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: stack.registryUrl }) });
  const backend = createKafkaBackend({ kafka: stack.kafka, logger: silentLogger, now: Date.now });
  const topic = topics.webhookAttempts.name;
  const starts = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => backend.endOffset({ topic, partition })),
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

export function attemptKey(event: number, endpoint: number, attempt: number): string {
  return `${String(event)}/${String(endpoint)}/${String(attempt)}`;
}

/** What a delivery gets that is never accepted. */
export const ATTEMPTS = 5;

export interface AttemptFaults {
  readonly deliveries: number;
  /** Received more or fewer than five times. */
  readonly wrongCounts: number;
  /** An attempt number of 1 to 5 that never came, or another one that did. */
  readonly wrongNumbers: number;
  /** The event id was not the same in all. */
  readonly changedIds: number;
}

/** Of deliveries that were never accepted and have had the time for all attempts. */
export function attemptFaults(deliveries: readonly Delivery[]): AttemptFaults {
  const count = (isFault: (delivery: Delivery) => boolean): number => deliveries.filter(isFault).length;
  return {
    deliveries: deliveries.length,
    wrongCounts: count(({ receipts }) => receipts.length !== ATTEMPTS),
    wrongNumbers: count(({ receipts }) => {
      const numbers = new Set(receipts.map(({ attempt }) => attempt));
      return numbers.size !== ATTEMPTS || [...numbers].some((number) => number < 1 || number > ATTEMPTS);
    }),
    changedIds: count(({ receipts }) => new Set(receipts.map(({ idHead }) => idHead)).size > 1),
  };
}
