import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  type AvroCodecs,
  createAvroCodecs,
  createSchemaRegistry,
  readTraceHeader,
  resolveBatch,
  topics,
} from '@waypost/contracts';
import { createKafkaBackend, type KafkaSettings, silentLogger } from '@waypost/streams';
import { connectKafka, readToEnd } from '@waypost/streams/admin';
import type { Log } from './stage.js';

/** A committed record, copied out of whatever brought it. */
export interface LogRecord {
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** As it came; null: none. */
  readonly traceparent: string | null;
}

export function codecsOf({ registryUrl }: Pick<Log, 'registryUrl'>): AvroCodecs {
  return createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
}

export type Topic = keyof AvroCodecs;
type ValueOf<T extends Topic> = Extract<ReturnType<AvroCodecs[T]['decode']>, { readonly type: 'decoded' }>['value'];

export interface ReadOptions {
  /** Whether stock kafkajs, which takes some seconds to join, has to read the same. */
  readonly secondReader: boolean;
  /** What cannot be read, or is read differently by two clients, is added here. */
  readonly problems: string[];
}

/** All committed records of a topic, by partition and offset. */
export async function readTopic({ kafka }: Log, topic: Topic, options: ReadOptions): Promise<LogRecord[]> {
  const { name } = topics[topic];
  const own = await readWithOwnFetcher(kafka, name);
  const stock = options.secondReader ? await readWithStockClient(kafka, name, own.length) : own;
  const difference = disagreement(own, stock);
  if (difference !== null) options.problems.push(`${name}: ${difference}`);
  return stock;
}

/** Where a record was, without what it had. */
export type LogPlace = Omit<LogRecord, 'key' | 'value'>;

export interface LogValue<V> {
  readonly record: LogPlace;
  readonly value: V;
}

/** The same with decoded values. */
export function readValues<T extends Topic>(log: Log, topic: T, options: ReadOptions): Promise<LogValue<ValueOf<T>>[]> {
  return readEach(log, topic, options, { bytesOf: copy, keep: (one) => one });
}

/**
 * Keeps of each value what `keep` returns, which must hold none of its bytes: the logs of a run of hours do not fit into memory,
 * and without a second reader they need not.
 */
export function readKept<T extends Topic, R>(
  log: Log,
  topic: T,
  options: ReadOptions,
  keep: (one: LogValue<ValueOf<T>>) => R,
): Promise<R[]> {
  return readEach(log, topic, options, { bytesOf: (bytes) => bytes, keep });
}

interface Kept<V, R> {
  /** Of the value as it is read: what is decoded holds parts of it. */
  readonly bytesOf: (bytes: Buffer | null) => Buffer | null;
  readonly keep: (one: LogValue<V>) => R;
}

async function readEach<T extends Topic, R>(
  log: Log,
  topic: T,
  options: ReadOptions,
  { bytesOf, keep }: Kept<ValueOf<T>, R>,
): Promise<R[]> {
  const codec = codecsOf(log)[topic];
  const kept: R[] = [];
  const take = async (records: readonly LogRecord[]): Promise<void> => {
    await resolveBatch(codec, records);
    for (const { key: _, value, ...record } of records) {
      const decoded = codec.decode(bytesOf(value) ?? Buffer.alloc(0));
      if (decoded.type === 'decoded') kept.push(keep({ record, value: decoded.value }));
      else {
        const place = `${String(record.partition)}/${String(record.offset)}`;
        options.problems.push(`${topics[topic].name}: record ${place} is ${decoded.type}`);
      }
    }
  };
  if (options.secondReader) await take(await readTopic(log, topic, options));
  else await readBatches(log.kafka, topics[topic].name, take);
  return kept;
}

const ITEMS_PER_TURN = 1_000;

/** The connections of all processes to their brokers lead through this one: a minute of work would cut them off. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => readonly R[]): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    results.push(...work(item));
    if (index % ITEMS_PER_TURN === 0) await nextTurn();
  }
  return results;
}

const QUIET_MS = 1_500;
const STOCK_TIMEOUT_MS = 60_000;

/** All committed records of a topic, by partition and offset, as the product's own fetcher reads them. */
async function readWithOwnFetcher(kafka: KafkaSettings, topic: string): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  await readBatches(kafka, topic, (records) => {
    for (const one of records) found.push({ ...one, key: copy(one.key), value: copy(one.value) });
  });
  return found;
}

/** @param take gets records whose bytes are used again afterwards */
async function readBatches(
  kafka: KafkaSettings,
  topic: string,
  take: (records: readonly LogRecord[]) => void | Promise<void>,
): Promise<void> {
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const fetcher = backend.fetcher();
  try {
    const partitions = (await backend.partitionCount(topic)) ?? 0;
    for (let partition = 0; partition < partitions; partition += 1) {
      await readToEnd(backend, fetcher, { topic, partition }, 0, ({ records }) =>
        take(
          records.map(({ offset, timestamp, key, value, headers }) => {
            const traceparent = readTraceHeader(headers);
            return { partition, offset, timestamp, key, value, traceparent };
          }),
        ),
      );
    }
  } finally {
    await fetcher.close();
    await backend.close();
  }
}

/** The same by stock kafkajs, which shares no code with the product's fetcher. Waits for `atLeast`, then for silence. */
async function readWithStockClient(kafka: KafkaSettings, topic: string, atLeast: number): Promise<LogRecord[]> {
  const consumer = connectKafka(kafka).consumer({ groupId: `integrity-judge.${topic}`, readUncommitted: false });
  const found: LogRecord[] = [];
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: ({ batch }) => {
        for (const { offset, timestamp, key, value, headers } of batch.messages)
          found.push({
            partition: batch.partition,
            ...numbers({ offset, timestamp }),
            key: copy(key),
            value: copy(value),
            traceparent: headers?.['traceparent']?.toString() ?? null,
          });
        return Promise.resolve();
      },
    });
    const deadline = performance.now() + STOCK_TIMEOUT_MS;
    while (found.length < atLeast && performance.now() < deadline) await sleep(100);
    await sleep(QUIET_MS);
  } finally {
    await consumer.disconnect();
  }
  return found.sort((a, b) => a.partition - b.partition || a.offset - b.offset);
}

/** What the two readers do not agree on; null when they do. */
function disagreement(own: readonly LogRecord[], stock: readonly LogRecord[]): string | null {
  if (own.length !== stock.length)
    return `the product's fetcher reads ${String(own.length)} records, stock kafkajs ${String(stock.length)}`;
  const place = own.findIndex((record, index) => !isEqual(record, stock[index]));
  return place < 0 ? null : `the product's fetcher and stock kafkajs differ at record ${String(place)}`;
}

function isEqual(a: LogRecord, b: LogRecord | undefined): boolean {
  const same = (one: Buffer | null, other: Buffer | null): boolean =>
    one === null || other === null ? one === other : one.equals(other);
  return a.partition === b?.partition && a.offset === b.offset && same(a.key, b.key) && same(a.value, b.value);
}

function numbers({ offset, timestamp }: { readonly offset: string; readonly timestamp: string }) {
  return {
    offset: Number(offset),
    timestamp: Number(timestamp),
  };
}

function copy(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes);
}
