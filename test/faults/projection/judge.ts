import { createAvroCodecs, createSchemaRegistry, resolveBatch, topics, type WebhookAttempt } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { disagreement, readWithOwnFetcher, readWithStockClient } from '../shared/committed-log.js';
import type { Database } from './database.js';
import { foldLog } from './fold-log.js';
import { compareRows, readRows } from './rows.js';

export interface JudgeOptions {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly partitions: number;
  readonly database: Database;
  readonly now: () => number;
  /** Whether stock kafkajs, which takes some seconds to join, has to read the same. */
  readonly secondReader: boolean;
}

export interface Findings {
  readonly attempts: number;
  readonly rows: number;
  readonly problems: readonly string[];
}

/** Holds the table against a fold of the whole log. */
export async function judgeProjection(options: JudgeOptions): Promise<Findings> {
  const { log, problems } = await readLog(options);
  const expected = foldLog(log, options.now());
  const found = await options.database.query(readRows);
  return { attempts: log.length, rows: found.size, problems: [...problems, ...compareRows(expected, found)] };
}

/** In the order of each partition; attempts of one delivery are all in one. */
async function readLog({ kafka, registryUrl, partitions, secondReader }: JudgeOptions) {
  const topic = topics.webhookAttempts.name;
  const records = await readWithOwnFetcher(kafka, topic, partitions);
  const difference = secondReader
    ? disagreement(records, await readWithStockClient(kafka, topic, records.length))
    : null;
  const problems = difference === null ? [] : [`${topic}: ${difference}`];
  const codec = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) }).webhookAttempts;
  await resolveBatch(codec, records);
  const log = records.flatMap((record): WebhookAttempt[] => {
    const decoded = codec.decode(record.value ?? Buffer.alloc(0));
    if (decoded.type === 'decoded') return [decoded.value];
    problems.push(`${topic}: record ${String(record.partition)}/${String(record.offset)} is ${decoded.type}`);
    return [];
  });
  return { log, problems };
}
