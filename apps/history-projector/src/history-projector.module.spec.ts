import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { Test, TestingModule } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import {
  type AvroCodecs,
  consumerGroups,
  ContractsError,
  createAvroCodecs,
  type SchemaRegistryPort,
} from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import {
  DeliveryProjection,
  PathProjection,
  type ProjectedLogs,
  ProjectionProgress,
  WaitingProjection,
} from '@waypost/history-store';
import { createMemoryDeliveryStore, createMemoryPathStore } from '@waypost/history-store/testing';
import {
  createLogger,
  Readiness,
  RuntimeModule,
  SCHEMA_REGISTRY,
  STREAMS_BACKEND,
  StreamsRuntime,
  StreamsServer,
} from '@waypost/platform';
import { MemoryRuntime } from '@waypost/platform/testing';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../test/support/samples.js';
import { until } from '../../../test/support/until.js';
import { readConfig } from './config.js';
import { RUN_MIGRATIONS } from './database/database-start.js';
import { RetentionJob } from './database/retention.job.js';
import { StalledSessionsJob } from './database/stalled-sessions.job.js';
import { HistoryProjectorModule } from './history-projector.module.js';
import { sampleAttempt } from './testing/sample-attempt.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const config = readConfig({
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  DATABASE_URL: 'postgres://localhost/waypost',
});

let registry: SchemaRegistryPort;
let codecs: AvroCodecs;
let events: string[];

beforeEach(async () => {
  registry = createMemoryRegistry();
  codecs = createAvroCodecs({ registry });
  await Promise.all([codecs.webhookAttempts.prepare(), codecs.telemetryPings.prepare()]);
  events = [];
});

function noted(event: string, result?: unknown) {
  return () => {
    events.push(event);
    return Promise.resolve(result);
  };
}

/** The application on Kafka and PostgreSQL in memory. */
function projector(runtime: MemoryRuntime, readiness: Readiness) {
  const processRuntime = RuntimeModule.forRoot({
    name: 'history-projector',
    config,
    readiness,
    onFatal: () => undefined,
    logger: createLogger({ app: 'test', level: 'silent' }),
    metrics: new Registry(),
    stopping: new AbortController().signal,
  });
  return Test.createTestingModule({ imports: [processRuntime, HistoryProjectorModule] })
    .overrideProvider(StreamsRuntime)
    .useValue(runtime)
    .overrideProvider(STREAMS_BACKEND)
    .useValue(
      createMemoryBackend({
        topics: { 'webhook.attempts': 1, 'webhook.deliveries': 1, 'telemetry.pings': 1 },
        now: () => NOW,
      }),
    )
    .overrideProvider(SCHEMA_REGISTRY)
    .useValue(registry)
    .overrideProvider(DataSource)
    .useValue({
      isInitialized: true,
      query: () => Promise.resolve([{}]),
      initialize: noted('connected'),
      destroy: noted('disconnected'),
    })
    .overrideProvider(RUN_MIGRATIONS)
    .useValue(noted('migrated'));
}

/** Answers as a database without a single day, and notes the table of each look for days that have expired. */
function databaseWithoutDays(lookedAt: string[]) {
  const query = (sql: string, [table]: readonly string[] = []) => {
    if (sql.includes('pg_inherits') && table !== undefined) lookedAt.push(table);
    return Promise.resolve(sql.includes('pg_try_advisory_lock') ? [{ locked: true }] : []);
  };
  const manager = { query };
  return {
    isInitialized: true,
    manager,
    transaction: (work: (inside: typeof manager) => Promise<unknown>) => work(manager),
    createQueryRunner: () => ({ manager, query, release: () => Promise.resolve() }),
    initialize: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
}

/** The type makes the list complete. */
const TABLES: Readonly<Record<keyof ProjectedLogs, true>> = {
  deliveries: true,
  delivery_figures: true,
  path_points: true,
  waiting_deliveries: true,
};

async function build() {
  const readiness = new Readiness();
  const runtime = new MemoryRuntime();
  const store = createMemoryDeliveryStore({ now: () => NOW });
  const paths = createMemoryPathStore({ now: () => NOW });
  const module = await projector(runtime, readiness)
    .overrideProvider(DeliveryProjection)
    .useValue(store.projection)
    .overrideProvider(ProjectionProgress)
    .useValue({ begin: () => Promise.resolve(), caughtUp: () => Promise.resolve() })
    .overrideProvider(PathProjection)
    .useValue(paths.projection)
    .overrideProvider(WaitingProjection)
    .useValue({ readPosition: () => Promise.resolve(null) })
    .overrideProvider(RetentionJob)
    .useValue({})
    .overrideProvider(StalledSessionsJob)
    .useValue({})
    .compile();
  const app = module.createNestMicroservice<AsyncMicroserviceOptions>({
    inject: [StreamsServer],
    useFactory: (strategy: StreamsServer) => ({ strategy }),
  });
  return { app, runtime, store, paths, readiness };
}

describe('HistoryProjectorModule', () => {
  it('has a provider for everything that its own providers ask for', async () => {
    const compiled = projector(new MemoryRuntime(), new Readiness()).compile();
    await expect(compiled).resolves.toBeInstanceOf(TestingModule);
  });

  it('tidies every table that has a partition for each day (R-35)', async () => {
    const lookedAt: string[] = [];
    const module = await projector(new MemoryRuntime(), new Readiness())
      .overrideProvider(DataSource)
      .useValue(databaseWithoutDays(lookedAt))
      .compile();
    const job = module.get(RetentionJob, { strict: false });
    job.onApplicationBootstrap();
    await until(() => {
      expect([...new Set(lookedAt)].sort()).toEqual(Object.keys(TABLES).sort());
    });
    await job.onModuleDestroy();
  });

  it('migrates and connects before its consumers start, and disconnects after they have stopped', async () => {
    const { app, runtime } = await build();
    await app.listen();
    expect(events).toEqual(['migrated', 'connected']);
    const { historyProjector, pathProjector, waitingProjector } = consumerGroups;
    const groups = [historyProjector, pathProjector, waitingProjector].map(({ id }) => id);
    expect(runtime.events).toEqual(groups.map((id) => `${id} started`));

    await app.close();

    expect(runtime.events.slice(3)).toEqual(groups.toReversed().map((id) => `${id} stopped`));
    expect(events).toEqual(['migrated', 'connected', 'disconnected']);
  });

  it('starts while the schema registry is away', async () => {
    const away = () => Promise.reject(new ContractsError('registry_unavailable', 'away'));
    registry = { schemaById: away, idOf: away, register: away, setCompatibility: away };
    const { app, readiness } = await build();
    await app.listen();
    expect(readiness.ready()).toBe(true);
    await app.close();
  });

  it('projects attempts and pings', async () => {
    const { app, runtime, store, paths } = await build();
    await app.listen();
    const attempt = codecs.webhookAttempts.encode(sampleAttempt('fleet-1', 1, 1, NOW - 60_000));
    const ping = pingOf({ fleetId: 'fleet-1', eventTime: NOW - 1_000, receivedTime: NOW });

    expect(await runtime.feed('webhook.attempts', [{ key: null, value: attempt }])).toBe(1);
    expect(
      await runtime.feed('telemetry.pings', [
        { key: Buffer.from(ping.deviceId), value: codecs.telemetryPings.encode(ping), timestamp: NOW },
      ]),
    ).toBe(1);
    const range = { fleetId: 'fleet-1', startAt: 0, endAt: NOW, limit: 10 };
    expect((await store.history.findDeliveries(range)).records.length).toBe(1);
    expect((await paths.history.findPoints(range)).length).toBe(1);
    await app.close();
  });

  it('is ready with its consumers, and not while the database is away', async () => {
    const { app, readiness } = await build();
    await app.listen();
    expect(readiness.ready()).toBe(true);
    const stop = new AbortController();
    const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

    const working = app.get(DatabaseRetry).run(() => Promise.reject(away), stop.signal);
    await new Promise((resolve) => setImmediate(resolve));

    expect(readiness.status().filter(({ ready }) => !ready)).toEqual([
      { name: 'database', state: 'starting', ready: false },
    ]);
    stop.abort();
    await expect(working).rejects.toBe(away);
    await app.close();
  });
});
