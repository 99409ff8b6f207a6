import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { allTopics } from '@waypost/contracts';
import { createKafkaBackend, silentLogger, type StreamRecord } from '@waypost/streams';
import { stackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { kafkaSettings } from '../../apps/cli/src/stack/stack-connections.js';
import { readLogRange } from '../../apps/cli/src/topic-reading/log-range.js';
import type { RunningWaypost } from '../support/running-waypost.js';
import type { KeptBytes } from '../support/secret-search.js';

/** What a running product has written and what it shows: where a secret could come to light. */
export interface EverythingKept {
  readonly logs: readonly KeptBytes[];
  /** `/metrics` and `/health/ready` of every application. */
  readonly adminAnswers: readonly KeptBytes[];
  /** Every row of every table, and the statements that the server shows as running. */
  readonly tables: readonly KeptBytes[];
  /** Keys and values of every committed record of every topic, as the broker gives them. */
  readonly topics: readonly KeptBytes[];
}

export async function everythingKept(waypost: RunningWaypost): Promise<EverythingKept> {
  // Logs come last: what the reading of the others makes the product say is in them.
  const [tables, topics] = await Promise.all([readTables(waypost.info().databaseUrl), readTopics(waypost.dataDir)]);
  const adminAnswers = await readAdminAnswers(await readLogs(waypost.dataDir));
  return { tables, topics, adminAnswers, logs: await readLogs(waypost.dataDir) };
}

async function readLogs(dataDir: string): Promise<KeptBytes[]> {
  const directory = join(dataDir, 'logs');
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => ({ place: file.name, bytes: await readFile(join(file.parentPath, file.name)) })),
  );
}

/** The port is any free one at each start; the log tells the last. */
async function readAdminAnswers(logs: readonly KeptBytes[]): Promise<KeptBytes[]> {
  const ports = logs.flatMap(({ place, bytes }) => {
    const line = bytes
      .toString()
      .split('\n')
      .findLast((one) => one.includes('"admin_listening"'));
    return line === undefined ? [] : [{ place, port: String((JSON.parse(line) as { port: number }).port) }];
  });
  const asked = ports.flatMap(({ place, port }) =>
    ['/metrics', '/health/ready'].map(async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { place: `${path} of ${place}`, bytes: Buffer.from(await response.arrayBuffer()) };
    }),
  );
  return Promise.all(asked);
}

async function readTables(databaseUrl: string): Promise<KeptBytes[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const linesOf = async (sql: string): Promise<string[]> => {
    const { rows } = await client.query<{ line: string | null }>(sql);
    return rows.map(({ line }) => line ?? '');
  };
  try {
    const tables = await linesOf(
      `SELECT format('%I.%I', table_schema, table_name) AS line FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
    );
    const kept: KeptBytes[] = [];
    for (const table of tables) kept.push(keptLines(table, await linesOf(`SELECT t::text AS line FROM ${table} t`)));
    return [...kept, keptLines('pg_stat_activity', await linesOf('SELECT query AS line FROM pg_stat_activity'))];
  } finally {
    await client.end();
  }
}

function keptLines(place: string, lines: readonly string[]): KeptBytes {
  return { place, bytes: Buffer.from(lines.join('\n')) };
}

async function readTopics(dataDir: string): Promise<KeptBytes[]> {
  const settings = kafkaSettings(await stackEnvironment(dataDir));
  const backend = createKafkaBackend({ kafka: settings, logger: silentLogger, now: Date.now });
  try {
    const kept: KeptBytes[] = [];
    for (const topic of allTopics) {
      const partitions = (await backend.partitionCount(topic.name)) ?? 0;
      const parts: Buffer[] = [];
      const range = { from: null, to: null, untilEnd: true };
      await readLogRange(backend, topic, partitions, range, (batch) => {
        for (const record of batch.records) parts.push(...bytesOf(record));
        return Promise.resolve();
      });
      kept.push({ place: topic.name, bytes: Buffer.concat(parts) });
    }
    return kept;
  } finally {
    await backend.close();
  }
}

function bytesOf({ key, value }: StreamRecord): Buffer[] {
  const separator = Buffer.from('\n');
  return [key ?? separator, separator, value ?? separator, separator];
}
