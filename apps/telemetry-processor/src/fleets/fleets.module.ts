import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import type { AvroCodecs } from '@waypost/contracts';
import { createFleetSettingsHistory, createGeofenceHistory, type GeofenceHistory } from '@waypost/domain';
import {
  CODECS,
  CONFIG,
  KafkaModule,
  LOGGER,
  type Logger,
  ON_FATAL,
  Quarantine,
  QuarantineModule,
  STREAMS_BACKEND,
} from '@waypost/platform';
import type { StreamsBackend } from '@waypost/streams';
import type { TelemetryProcessorConfig } from '../config.js';
import { createFleetDirectory, FleetDirectory } from './fleet-directory.js';

/** Reads the geofences and settings of all fleets before the first ping, and follows them until the last. */
@Module({
  imports: [KafkaModule, QuarantineModule],
  providers: [
    {
      provide: FleetDirectory,
      inject: [STREAMS_BACKEND, CODECS, LOGGER, ON_FATAL, Quarantine, Registry],
      useFactory: createDirectory,
    },
  ],
  exports: [FleetDirectory],
})
export class FleetsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  /** False if only positions are decided, for which no rule needs a fleet. */
  private readonly isNeeded: boolean;

  constructor(
    private readonly fleets: FleetDirectory,
    @Inject(CONFIG) { rules }: Pick<TelemetryProcessorConfig, 'rules'>,
  ) {
    this.isNeeded = rules === 'all';
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.isNeeded) await this.fleets.start();
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.isNeeded) await this.fleets.stop();
  }
}

function createDirectory(
  backend: StreamsBackend,
  codecs: AvroCodecs,
  logger: Logger,
  onFatal: (error: Error) => void,
  quarantine: Quarantine,
  registry: Registry,
): FleetDirectory {
  const histories = { geofences: createGeofenceHistory(), settings: createFleetSettingsHistory() };
  observeGeofences(registry, histories.geofences);
  return createFleetDirectory({ backend, codecs, logger, onFatal, histories, quarantine });
}

function observeGeofences(registry: Registry, history: GeofenceHistory): void {
  new Gauge({
    name: 'waypost_geofence_fleets',
    help: 'Fleets with at least one geofence in memory.',
    registers: [registry],
    collect() {
      this.set(history.fleetCount);
    },
  });
  new Gauge({
    name: 'waypost_geofence_versions',
    help: 'Versions of geofences in memory: current ones, and those that recent pings have seen.',
    registers: [registry],
    collect() {
      this.set(history.versionCount);
    },
  });
}
