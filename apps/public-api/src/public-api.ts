import { randomBytes, randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import type { AppDefinition, AppRuntime } from '@waypost/platform';
import { APP_NAME, type PublicApiConfig, readConfig } from './config.js';
import { configureHttp } from './configure-http.js';
import { DatabaseModule } from './database/database.module.js';
import { createRouteOf } from './http/route-table.middleware.js';
import { HttpApiModule } from './http-api.module.js';
import { KafkaModule } from './kafka/kafka.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { measureRequests } from './metrics/request-metrics.middleware.js';
import { OpenApi } from './openapi/openapi-document.js';
import { OperationalEventsConsumerModule } from './operational-events/operational-events.consumer.js';
import { OutboxModule } from './outbox/outbox.module.js';
import { ReplayProgressConsumerModule } from './replays/replay-progress.consumer.js';
import { RuntimeModule } from './runtime/runtime.module.js';

@Module({})
class PublicApiModule {
  static forRoot({ name, config, logger, metrics }: AppRuntime<PublicApiConfig>): DynamicModule {
    const { database, http, registry, sealingKeys, pageTokenKeys, egress } = config;
    const { rateLimit, addressRateLimit, fleetLimits } = http;
    const settings = { sealingKeys, pageTokenKeys, egress, rateLimit, addressRateLimit, fleetLimits };
    return {
      module: PublicApiModule,
      imports: [
        RuntimeModule.forRoot({ logger, settings, now: Date.now, randomBytes, newId: randomUUID }),
        DatabaseModule.forRoot({ url: database.url, applicationName: name }),
        KafkaModule.forRoot({ registry }),
        OutboxModule.forRoot({ databaseUrl: database.url }),
        MetricsModule.forRoot({ registry: metrics }),
        OperationalEventsConsumerModule,
        ReplayProgressConsumerModule,
        HttpApiModule,
      ],
    };
  }
}

export const publicApi: AppDefinition<PublicApiConfig> = {
  name: APP_NAME,
  config: readConfig,
  module: (runtime) => PublicApiModule.forRoot(runtime),
  http: ({ config, metrics }) => ({
    port: config.http.port,
    configure: (app) => {
      const routeOf = createRouteOf(Object.keys(app.get(OpenApi, { strict: false }).routes()));
      app.use(measureRequests({ registry: metrics, routeOf, monotonicMs: () => performance.now() }));
      configureHttp(app, config.http);
    },
  }),
};
