import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { createSchemaRegistry } from '@waypost/contracts';
import { createDataSource, createDeliveryHistory, createManagementStore } from '@waypost/history-store';
import type { AppDefinition, AppRuntime, LifecyclePart } from '@waypost/platform';
import { createKafkaBackend } from '@waypost/streams';
import { APP_NAME, type PublicApiConfig, readConfig } from './config.js';
import { configureHttp } from './configure-http.js';
import { DATA_SOURCE, DatabaseConnection } from './database.js';
import { HttpApiModule } from './http-api.module.js';
import { createOutbox } from './outbox/create-outbox.js';
import type { OutboxPublisher } from './outbox/outbox-publisher.js';
import { createUntilPublished } from './outbox/until-published.js';
import { createUrlCheck } from './subscriptions/url-check.js';

const OUTBOX_PUBLISHER = Symbol('outbox publisher');
const POOL_SIZE = 10;
/** No page needs as long; a runaway query must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;

@Module({})
class PublicApiModule {}

function createModule({ config, logger, name }: AppRuntime<PublicApiConfig>): DynamicModule {
  const now = Date.now;
  const dataSource = createDataSource(config.database.url, {
    applicationName: name,
    poolSize: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleConnectionLost: (error) => {
      logger.warn('database_connection_lost', { error });
    },
  });
  const store = createManagementStore({ dataSource, randomBytes });
  const outbox = createOutbox({
    databaseUrl: config.database.url,
    registry: createSchemaRegistry({ url: config.registry.url }),
    backend: createKafkaBackend({ kafka: config.kafka, logger, now: Date.now }),
    logger,
    now,
  });
  const api = HttpApiModule.on({
    logger,
    store,
    history: createDeliveryHistory({ dataSource }),
    checkUrl: createUrlCheck(config.egress),
    untilPublished: createUntilPublished({
      isPublished: (ids) => store.isPublished(ids),
      isStopping: () => outbox.isStopped(),
      now,
      sleep,
    }),
    sealingKey: config.sealingKey,
    pageTokenKey: config.pageTokenKey,
    rateLimit: config.http.rateLimit,
    randomBytes,
    newId: randomUUID,
    now,
  });
  return {
    module: PublicApiModule,
    imports: [api],
    providers: [
      { provide: DATA_SOURCE, useValue: dataSource },
      DatabaseConnection,
      { provide: OUTBOX_PUBLISHER, useValue: outbox },
    ],
  };
}

/** Never holds the start or the readiness up: the API answers while Kafka is away, and the outbox catches up. */
function outboxPart(outbox: OutboxPublisher): LifecyclePart {
  return {
    name: 'outbox publisher',
    start: () => {
      outbox.start();
    },
    stop: () => outbox.stop(),
  };
}

export const publicApi: AppDefinition<PublicApiConfig> = {
  name: APP_NAME,
  config: readConfig,
  module: createModule,
  http: ({ config }) => ({
    port: config.http.port,
    configure: (app) => {
      configureHttp(app, config.http);
    },
  }),
  parts: (nest) => [outboxPart(nest.get<OutboxPublisher>(OUTBOX_PUBLISHER))],
};
