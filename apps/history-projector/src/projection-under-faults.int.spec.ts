import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, type AvroCodecs } from '@waypost/contracts';
import {
  createDataSource,
  createDeliveryHistory,
  createDeliveryProjection,
  runMigrations,
} from '@waypost/history-store';
import { createMemoryBackend, createTaskRunner, silentLogger, type StreamsBackend } from '@waypost/streams';
import type { DataSource } from 'typeorm';
import { createMemoryRegistry } from '../../../test/support/registry/memory-registry.js';
import { createAttemptsTask } from './attempts.task.js';
import { createDatabaseRetry } from './database-retry.js';
import { sampleAttempt } from './testing/sample-attempt.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const TOPIC = 'webhook.attempts';
const PARTITIONS = 2;
const FLEET = 'fleet-a';
const DELIVERIES = 400;

const server = process.env['WAYPOST_TEST_DATABASE_URL'] ?? '';
const name = `test_${randomBytes(6).toString('hex')}`;
let admin: DataSource;
let reader: DataSource;
let url: string;
let codecs: AvroCodecs;

beforeAll(async () => {
  admin = await createDataSource(server).initialize();
  await admin.query(`CREATE DATABASE ${name}`);
  url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await runMigrations(url);
  reader = await createDataSource(url, { applicationName: 'reader' }).initialize();
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookAttempts.prepare();
});
afterAll(async () => {
  await reader.destroy();
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.destroy();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One projector process, as far as the database and the group can see. */
async function startProjector(backend: StreamsBackend) {
  const dataSource = await createDataSource(url, { applicationName: 'projector', poolSize: 4 }).initialize();
  const database = createDatabaseRetry({
    logger: { info: () => undefined, warn: () => undefined },
    now: () => 0,
    wait: () => pause(5),
  });
  const fatal: Error[] = [];
  const runner = createTaskRunner({
    backend,
    groupId: 'history-projector',
    topics: [TOPIC],
    createTask: (context) =>
      createAttemptsTask(context, {
        codec: codecs.webhookAttempts,
        projection: createDeliveryProjection({ dataSource, now: () => NOW }),
        database,
        logRange: async (of) => ({ start: await backend.startOffset(of), end: await backend.endOffset(of) }),
        metrics: {
          batchApplied: () => undefined,
          lagMeasured: () => undefined,
          partitionClosed: () => undefined,
          databaseAvailable: () => undefined,
        },
        logger: { info: () => undefined, warn: () => undefined },
        now: () => performance.now(),
        wait: () => pause(10),
        onFatal: (error) => fatal.push(error),
      }),
    logger: silentLogger,
    onFatal: (error) => fatal.push(error),
  });
  await runner.start();
  return {
    fatal,
    stop: async () => {
      await runner.stop();
      await dataSource.destroy();
    },
  };
}

/** The log, in order: every first attempt is somewhere before its second. */
const LOG = Array.from({ length: DELIVERIES + 50 }, (_, n) => [
  ...(n < DELIVERIES ? [{ n, attempt: 1 as const }] : []),
  ...(n >= 50 ? [{ n: n - 50, attempt: 2 as const }] : []),
]).flat();

describe('the projection under faults', () => {
  it('equals the log after connections were cut and projectors replaced at any moment', async () => {
    const backend = createMemoryBackend({ topics: { [TOPIC]: PARTITIONS }, now: () => NOW });
    let projector = await startProjector(backend);
    const fatal = [...projector.fatal];
    for (const [index, { n, attempt }] of LOG.entries()) {
      const value = codecs.webhookAttempts.encode(sampleAttempt(FLEET, n, attempt, NOW - 900_000 + n));
      backend.append({ topic: TOPIC, partition: n % PARTITIONS }, { key: null, value });
      if (index % 7 === 0) await pause(2);
      if (index % 41 === 40) {
        await reader.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'projector'",
        );
      }
      if (index % 200 === 199) {
        fatal.push(...projector.fatal);
        await projector.stop();
        projector = await startProjector(backend);
      }
    }
    await until(async () => (await positions()).join() === [LOG.length / 2, LOG.length / 2].join());
    await projector.stop();

    expect([...fatal, ...projector.fatal]).toEqual([]);
    const rows = await createDeliveryHistory({ dataSource: reader }).findDeliveries({
      fleetId: FLEET,
      startAt: 0,
      endAt: NOW,
      limit: 2 * DELIVERIES,
    });
    expect(rows.map(({ deviceId }) => deviceId)).toEqual(
      Array.from({ length: DELIVERIES }, (_, n) => `device-${String(n)}`),
    );
    expect(rows.every(({ status }) => status === 'delivered')).toBe(true);
    expect(new Set(rows.map(({ attempts }) => attempts.map(({ attempt }) => attempt).join()))).toEqual(
      new Set(['1,2']),
    );
    expect(rows.map(({ body }) => body)).toEqual(Array.from({ length: DELIVERIES }, (_, n) => `{"n":${String(n)}}`));
  });
});

async function positions(): Promise<number[]> {
  const rows: { next_offset: string }[] = await reader.query(
    'SELECT next_offset FROM projection_positions ORDER BY partition',
  );
  return rows.map(({ next_offset: offset }) => Number(offset));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10);
}
