import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AttemptStreamModule } from './attempt-stream/attempt-stream.module.js';
import { ApiKeyGuard } from './auth/api-key.guard.js';
import { AuthModule } from './auth/auth.module.js';
import { ConsoleModule } from './console/console.module.js';
import { CurrentFleetModule } from './current-fleet/current-fleet.module.js';
import { CurrentSessionModule } from './current-session/current-session.module.js';
import { ApiDatabaseModule } from './database/api-database.module.js';
import { DeliveryMetricsModule } from './delivery-metrics/delivery-metrics.module.js';
import { DtoValidationPipe } from './endpoint/dto-validation.pipe.js';
import { NoQueryGuard } from './endpoint/no-query.guard.js';
import { ApiErrorFilter } from './errors/api-error.filter.js';
import { OutageLog } from './errors/outage-log.js';
import { EventsV2Module } from './events-v2/events-v2.module.js';
import { FleetMetricsModule } from './fleet-metrics/fleet-metrics.module.js';
import { FleetsModule } from './fleets/fleets.module.js';
import { GeofencesModule } from './geofences/geofences.module.js';
import { HistoryV1Module } from './history-v1/history-v1.module.js';
import { HttpPipeline } from './http-pipeline.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { OperationalEventsModule } from './operational-events/operational-events.module.js';
import { PathsModule } from './paths/paths.module.js';
import { PortalSessionsModule } from './portal-sessions/portal-sessions.module.js';
import { PortalSettingsModule } from './portal-settings/portal-settings.module.js';
import { ReplaysModule } from './replays/replays.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { TasksModule } from './tasks/tasks.module.js';

/** Everything that answers requests. */
@Module({
  // In the order of the OpenAPI document.
  imports: [
    HistoryV1Module,
    EventsV2Module,
    DeliveryMetricsModule,
    AttemptStreamModule,
    PathsModule,
    SubscriptionsModule,
    OperationalEventsModule,
    ReplaysModule,
    GeofencesModule,
    CurrentFleetModule,
    ApiKeysModule,
    PortalSettingsModule,
    PortalSessionsModule,
    CurrentSessionModule,
    FleetsModule,
    FleetMetricsModule,
    TasksModule,
    OpenApiModule,
    AuthModule,
    ConsoleModule,
    ApiDatabaseModule,
  ],
  providers: [
    HttpPipeline,
    OutageLog,
    { provide: APP_FILTER, useClass: ApiErrorFilter },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: NoQueryGuard },
    { provide: APP_PIPE, useClass: DtoValidationPipe },
  ],
})
export class HttpApiModule {}
