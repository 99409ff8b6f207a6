import { type ConsumerGroup, consumerGroups, createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { createDataSource, databaseRefusal, runMigrations } from '@waypost/database';
import {
  createDeliveryPartitions,
  createDeliveryProjection,
  createPathPartitions,
  createPathProjection,
  endStalledSessions,
} from '@waypost/history-store';
import { type AppDefinition, type AppRuntime, BootError, type LifecyclePart } from '@waypost/platform';
import {
  createKafkaBackend,
  createTaskManager,
  type PartitionTask,
  type StreamsBackend,
  type TaskContext,
  type TaskManager,
  type TopicPartition,
  waitOrAbort,
} from '@waypost/streams';
import { createAttemptsTask } from './attempts.task.js';
import { readConfig, type HistoryProjectorConfig } from './config.js';
import { createDatabaseRetry, type DatabaseRetry } from './database-retry.js';
import { HistoryProjectorModule } from './history-projector.module.js';
import { createPathMetrics } from './paths/path-metrics.js';
import { createPathsTask } from './paths/paths.task.js';
import type { ProjectionTaskTools } from './projection.task.js';
import { createProjectorMetrics, type ProjectorMetrics } from './projector-metrics.js';
import { createRetentionJob } from './retention.job.js';
import { createStalledSessionsJob } from './stalled-sessions.job.js';

type Runtime = AppRuntime<HistoryProjectorConfig>;

export const historyProjectorApp: AppDefinition<HistoryProjectorConfig> = {
  name: 'history-projector',
  config: readConfig,
  module: () => HistoryProjectorModule,
  parts: (_nest, runtime) => projectorParts(runtime),
};

/** A transaction of each log, those that have given up their turns, and the look-ups of four partitions of both logs. */
const POOL_SIZE = 12;

/** In pg_stat_activity. */
const APPLICATION_NAME = 'waypost history-projector';

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
    applicationName: APPLICATION_NAME,
    idleInTransactionTimeoutMs: IDLE_IN_TRANSACTION_MS,
    onIdleConnectionLost: (error) => {
      logger.debug('database_connection_lost', { error });
    },
  });
  const backend = createKafkaBackend({ kafka: config.kafka, logger, now: Date.now });
  const runners = createRunners(
    { config, logger, metrics: registry, onFatal },
    { dataSource, database, backend, metrics },
  );
  const endStalled = (stalledForMs: number): Promise<number> =>
    endStalledSessions({ databaseUrl: config.database.url, applicationName: APPLICATION_NAME, stalledForMs });
  const partitions = [createDeliveryPartitions(dataSource), createPathPartitions(dataSource)];
  return [
    databasePart({ url: config.database.url, dataSource, database }),
    { name: 'kafka', start: () => undefined, stop: () => backend.close() },
    createRetentionJob({ partitions, database, logger, now: Date.now, every }),
    createStalledSessionsJob({ endStalled, logger, every }),
    projectionPart('projection', runners.attempts, database),
    projectionPart('paths', runners.paths, database),
  ];
}

interface RunnerTools {
  readonly dataSource: ReturnType<typeof createDataSource>;
  readonly database: DatabaseRetry;
  readonly backend: StreamsBackend;
  readonly metrics: ProjectorMetrics;
}

/** One for each of the two logs; they share nothing but connections. */
function createRunners(
  { config, logger, metrics: registry, onFatal }: Pick<Runtime, 'config' | 'logger' | 'metrics' | 'onFatal'>,
  { dataSource, database, backend, metrics }: RunnerTools,
): { readonly attempts: TaskManager; readonly paths: TaskManager } {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry(config.registry) });
  const tools: ProjectionTaskTools = {
    database,
    logRange: (partition) => logRange(backend, partition),
    logger,
    now: () => performance.now(),
    wait: waitOrAbort,
    onFatal,
  };
  const runnerOf = (group: ConsumerGroup, createTask: (context: TaskContext) => PartitionTask): TaskManager =>
    createTaskManager({
      backend,
      groupId: group.id,
      topics: group.topics,
      instanceId: config.process.instanceId,
      createTask,
      logger,
      onFatal,
    });
  const attemptsDeps = {
    ...tools,
    codec: codecs.webhookAttempts,
    projection: createDeliveryProjection({ dataSource, now: Date.now, ...config.projection }),
    metrics,
  };
  const pathsDeps = {
    ...tools,
    codec: codecs.telemetryPings,
    projection: createPathProjection({ dataSource, now: Date.now }),
    metrics: createPathMetrics(registry),
  };
  const attempts = runnerOf(consumerGroups.historyProjector, (context) => createAttemptsTask(context, attemptsDeps));
  const paths = runnerOf(consumerGroups.pathProjector, (context) => createPathsTask(context, pathsDeps));
  return { attempts, paths };
}

const projectionPart = (name: string, runner: TaskManager, database: DatabaseRetry): LifecyclePart => ({
  name,
  start: () => runner.start(),
  stop: () => runner.stop(),
  ready: () => runner.ready() && database.available(),
});

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
      try {
        await database.run(() => runMigrations(url), giveUp.signal);
        await database.run(() => dataSource.initialize(), giveUp.signal);
      } catch (error) {
        const refusal = databaseRefusal(error);
        throw refusal === null ? error : new BootError('database_refused', refusal, { cause: error });
      }
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

function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => {
    clearInterval(timer);
  };
}
