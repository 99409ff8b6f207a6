import { setTimeout as delay } from 'node:timers/promises';
import { consumerGroups, createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import {
  createDataSource,
  createDeliveryPartitions,
  createDeliveryProjection,
  runMigrations,
} from '@waypost/history-store';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend, createTaskRunner, type StreamsBackend, type TopicPartition } from '@waypost/streams';
import { createAttemptsTask, type AttemptsTaskDeps } from './attempts.task.js';
import { readConfig, type HistoryProjectorConfig } from './config.js';
import { createDatabaseRetry, type DatabaseRetry } from './database-retry.js';
import { HistoryProjectorModule } from './history-projector.module.js';
import { createProjectorMetrics } from './projector-metrics.js';
import { createRetentionJob } from './retention.job.js';

type Runtime = AppRuntime<HistoryProjectorConfig>;

export const historyProjectorApp: AppDefinition<HistoryProjectorConfig> = {
  name: 'history-projector',
  config: readConfig,
  module: () => HistoryProjectorModule,
  parts: (_nest, runtime) => projectorParts(runtime),
};

/** A connection for each partition of the default four, some for the retention, and room for a few more partitions. */
const POOL_SIZE = 8;

/** A process that was stopped in a transaction must not keep the next owner of its partition waiting for longer. */
const IDLE_IN_TRANSACTION_MS = 10_000;

function projectorParts({ config, logger, metrics: registry, onFatal }: Runtime): LifecyclePart[] {
  const metrics = createProjectorMetrics(registry);
  metrics.databaseAvailable(true);
  const database = createDatabaseRetry({
    logger,
    now: () => performance.now(),
    wait: waitOrAbort,
    onChange: (available) => {
      metrics.databaseAvailable(available);
    },
  });
  const dataSource = createDataSource(config.database.url, {
    poolSize: POOL_SIZE,
    applicationName: 'waypost history-projector',
    idleInTransactionTimeoutMs: IDLE_IN_TRANSACTION_MS,
    onIdleConnectionLost: (error) => {
      logger.debug('database_connection_lost', { error });
    },
  });
  const backend = createKafkaBackend({ kafka: config.kafka, logger, now: Date.now });
  const taskDeps: AttemptsTaskDeps = {
    codec: createAvroCodecs({ registry: createSchemaRegistry({ url: config.registry.url }) }).webhookAttempts,
    projection: createDeliveryProjection({ dataSource, now: Date.now }),
    database,
    logRange: (partition) => logRange(backend, partition),
    metrics,
    logger,
    now: () => performance.now(),
    wait: waitOrAbort,
    onFatal,
  };
  const runner = createTaskRunner({
    backend,
    groupId: consumerGroups.historyProjector.id,
    topics: consumerGroups.historyProjector.topics,
    instanceId: config.process.instanceId,
    createTask: (context) => createAttemptsTask(context, taskDeps),
    logger,
    onFatal,
  });
  const retention = { partitions: createDeliveryPartitions(dataSource), database, logger, now: Date.now, every };
  return [
    databasePart({ url: config.database.url, dataSource, database }),
    { name: 'kafka', start: () => undefined, stop: () => backend.close() },
    createRetentionJob(retention),
    {
      name: 'projection',
      start: () => runner.start(),
      stop: () => runner.stop(),
      ready: () => runner.ready() && database.available(),
    },
  ];
}

interface DatabasePartDeps {
  readonly url: string;
  readonly dataSource: ReturnType<typeof createDataSource>;
  readonly database: DatabaseRetry;
}

/** Waits for the database, brings its tables up to date and connects. */
function databasePart({ url, dataSource, database }: DatabasePartDeps): LifecyclePart {
  const giveUp = new AbortController();
  return {
    name: 'database',
    start: async () => {
      await database.run(() => runMigrations(url), giveUp.signal);
      await database.run(() => dataSource.initialize(), giveUp.signal);
    },
    stop: async () => {
      giveUp.abort();
      if (dataSource.isInitialized) await dataSource.destroy();
    },
  };
}

async function logRange(backend: StreamsBackend, partition: TopicPartition): Promise<{ start: number; end: number }> {
  const [start, end] = await Promise.all([backend.startOffset(partition), backend.endOffset(partition)]);
  return { start, end };
}

async function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => {
    clearInterval(timer);
  };
}
