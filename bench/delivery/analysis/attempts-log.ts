import {
  type AvroCodecs,
  createAvroCodecs,
  createSchemaRegistry,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { type BenchStack, PARTITIONS } from '../../shared/stack/bench-stack.js';
import { EVENT_DIGITS, EVENT_MARK } from '../sink/origin.js';
import type { Delivery } from './deliveries.js';

/** What the benchmark wants of an attempt in the log. */
export interface LoggedAttempt {
  readonly event: number;
  readonly endpoint: number;
  readonly attempt: number;
  readonly dueMs: number;
  readonly startedMs: number;
}

/** What is committed to a topic from the opening on. */
export interface TopicTail<T> {
  read(): Promise<T[]>;
  close(): Promise<void>;
}

export interface TailOptions<Value, T> {
  readonly stack: BenchStack;
  readonly topic: string;
  readonly codecOf: (codecs: AvroCodecs) => SubjectCodec<Value>;
  readonly pick: (value: Value, appendedMs: number) => T;
}

export async function openTail<Value, T>(options: TailOptions<Value, T>): Promise<TopicTail<T>> {
  const { stack, topic, codecOf, pick } = options;
  const codec = codecOf(createAvroCodecs({ registry: createSchemaRegistry({ url: stack.registryUrl }) }));
  const backend = createKafkaBackend({ kafka: stack.kafka, logger: silentLogger, now: Date.now });
  const starts = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => backend.endOffset({ topic, partition })),
  );
  return {
    async read() {
      const found: T[] = [];
      const fetcher = backend.fetcher();
      try {
        for (const [partition, start] of starts.entries()) {
          await readToEnd(backend, fetcher, { topic, partition }, start, async ({ records }) => {
            await resolveBatch(codec, records);
            for (const { value, timestamp } of records) {
              const decoded = value === null ? null : codec.decode(value);
              if (decoded?.type === 'decoded') found.push(pick(decoded.value, timestamp));
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

export function openAttemptsLog(stack: BenchStack): Promise<TopicTail<LoggedAttempt>> {
  const codecOf = ({ webhookAttempts }: AvroCodecs) => webhookAttempts;
  return openTail({ stack, topic: topics.webhookAttempts.name, codecOf, pick: loggedAttempt });
}

/** The number that the load generator has put into a device id; -1: there is none. */
export function eventNumberOf(deviceId: string): number {
  return deviceId.startsWith(EVENT_MARK)
    ? Number(deviceId.slice(EVENT_MARK.length, EVENT_MARK.length + EVENT_DIGITS))
    : -1;
}

function loggedAttempt({ deviceId, url, attempt, dueAt, startedAt }: WebhookAttempt): LoggedAttempt {
  return {
    event: eventNumberOf(deviceId),
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
