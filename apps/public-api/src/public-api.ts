import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { createSchemaRegistry } from '@waypost/contracts';
import { createDataSource, createPageSource, poolUsageOf } from '@waypost/database';
import { createDeliveryHistory, createPathHistory } from '@waypost/history-store';
import { createManagementStore, MANAGEMENT_ENTITIES } from '@waypost/management-store';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend } from '@waypost/streams';
import { APP_NAME, type PublicApiConfig, readConfig } from './config.js';
import { configureHttp } from './configure-http.js';
import { DATA_SOURCE, DatabaseConnection, PAGE_SOURCE } from './database.js';
import { HttpApiModule } from './http-api.module.js';
import { registerDatabaseMetrics } from './metrics/database-metrics.js';
import { measureRequests } from './metrics/request-metrics.js';
import { createRouteOf } from './metrics/route-names.js';
import { openApiDocument } from './openapi/document.js';
import { documentedMethods } from './openapi/documented-methods.js';
import { createOutbox } from './outbox/create-outbox.js';
import { createOperations } from './operations/create-operations-consumer.js';
import type { OperationsConsumer } from './operations/operations-consumer.js';
import type { OutboxPublisher } from './outbox/outbox-publisher.js';
import { createUntilPublished } from './outbox/until-published.js';
import { createReplayProgress } from './replays/create-replay-progress.js';
import { createUrlCheck } from './subscriptions/url-check.js';

const OUTBOX_PUBLISHER = Symbol('outbox publisher');
const OPERATIONS_CONSUMER = Symbol('operations consumer');
const REPLAY_PROGRESS = Symbol('replay progress');
const POOL_SIZE = 10;
/** No page needs as long; a runaway query must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;

@Module({})
class PublicApiModule {}

function createModule({ config, logger, metrics, name }: AppRuntime<PublicApiConfig>): DynamicModule {
  const now = Date.now;
  const { dataSource, pages } = createSources({ config, logger, name });
  registerDatabaseMetrics({
    registry: metrics,
    pools: { management: () => poolUsageOf(dataSource), pages: () => pages.usage() },
    readOutboxLag: () => store.outbox.readLag(),
    now,
  });
  const store = createManagementStore({ dataSource, randomBytes });
  const registry = createSchemaRegistry(config.registry);
  const backend = createKafkaBackend({ kafka: config.kafka, logger, now });
  const outbox = createOutbox({ databaseUrl: config.database.url, registry, backend, logger, now });
  const { instanceId } = config.process;
  const operations = createOperations({ backend, registry, store, instanceId, logger, now });
  const replayProgress = createReplayProgress({ backend, registry, store, instanceId, logger, now });
  const api = HttpApiModule.on({
    logger,
    store,
    history: createDeliveryHistory({ pages }),
    paths: createPathHistory({ pages }),
    checkUrl: createUrlCheck(config.egress),
    untilPublished: createUntilPublished({
      isPublished: (ids) => store.outbox.isPublished(ids),
      isStopping: () => outbox.isStopped(),
      now,
      sleep,
    }),
    sealingKey: config.sealingKey,
    pageTokenKey: config.pageTokenKey,
    rateLimit: config.http.rateLimit,
    addressRateLimit: config.http.addressRateLimit,
    randomBytes,
    newId: randomUUID,
    now,
  });
  return {
    module: PublicApiModule,
    imports: [api],
    providers: [
      { provide: DATA_SOURCE, useValue: dataSource },
      { provide: PAGE_SOURCE, useValue: pages },
      DatabaseConnection,
      { provide: OUTBOX_PUBLISHER, useValue: outbox },
      { provide: OPERATIONS_CONSUMER, useValue: operations },
      { provide: REPLAY_PROGRESS, useValue: replayProgress },
    ],
  };
}

function createSources({ config, logger, name }: Pick<AppRuntime<PublicApiConfig>, 'config' | 'logger' | 'name'>) {
  const connections = {
    applicationName: name,
    poolSize: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleConnectionLost: (error: Error) => {
      logger.warn('database_connection_lost', { error });
    },
  };
  return {
    pages: createPageSource(config.database.url, connections),
    dataSource: createDataSource(config.database.url, {
      entities: MANAGEMENT_ENTITIES,
      ...connections,
      // A process that is stopped in the middle of a change must not keep others from theirs.
      idleInTransactionTimeoutMs: STATEMENT_TIMEOUT_MS,
    }),
  };
}

/** Neither of these holds the start or the readiness up: the API answers while Kafka is away, and they catch up. */
function outboxPart(outbox: OutboxPublisher): LifecyclePart {
  return {
    name: 'outbox publisher',
    start: () => {
      outbox.start();
    },
    stop: () => outbox.stop(),
  };
}

function consumerPart(name: string, consumer: OperationsConsumer): LifecyclePart {
  return {
    name,
    start: () => {
      consumer.start();
    },
    stop: () => consumer.stop(),
  };
}

export const publicApi: AppDefinition<PublicApiConfig> = {
  name: APP_NAME,
  config: readConfig,
  module: createModule,
  http: ({ config, metrics }) => ({
    port: config.http.port,
    configure: (app) => {
      const routeOf = createRouteOf(documentedMethods(openApiDocument));
      app.use(measureRequests({ registry: metrics, routeOf, monotonicMs: () => performance.now() }));
      configureHttp(app, config.http);
    },
  }),
  // The outbox closes the connection to Kafka that both use: it stops last.
  parts: (nest) => [
    outboxPart(nest.get<OutboxPublisher>(OUTBOX_PUBLISHER)),
    consumerPart('operations consumer', nest.get<OperationsConsumer>(OPERATIONS_CONSUMER)),
    consumerPart('replay progress', nest.get<OperationsConsumer>(REPLAY_PROGRESS)),
  ],
};
