import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type AvroCodecs, type SubjectCodec, type TopicDefinition, topics } from '@waypost/contracts';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  type FleetGeofences,
  type FleetSettingsHistory,
  type FleetSettingsVersions,
  type Geofence,
  geofenceFault,
  type GeofenceHistory,
} from '@waypost/domain';
import { CODECS, CONFIG, LOGGER, ON_FATAL, Quarantine, STREAMS_BACKEND, VersionReader } from '@waypost/platform';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';
import type { TelemetryProcessorConfig } from '../config.js';
import { observeGeofences } from './geofence-metrics.js';

/** undefined: the fleet never had any. */
export interface KnownFleet {
  readonly geofences: FleetGeofences | undefined;
  readonly settings: FleetSettingsVersions | undefined;
}

export interface KnownFleets {
  readonly fleet: (fleetId: string) => KnownFleet | undefined;
  /** Grows with each fleet that gets its first geofence or settings. None is ever forgotten. */
  readonly knownCount: () => number;
}

export interface FleetHistories {
  readonly geofences: GeofenceHistory;
  readonly settings: FleetSettingsHistory;
}

/**
 * The geofences and the settings of all fleets with their versions, from their topics: read to their ends
 * before the first ping, and followed until after the last.
 */
@Injectable()
export class FleetDirectory implements KnownFleets, OnApplicationBootstrap, OnApplicationShutdown {
  /** None if only positions are decided, for which no rule needs a fleet. */
  private readonly tables: readonly GlobalTable[];
  readonly fleet: KnownFleets['fleet'];
  readonly knownCount: KnownFleets['knownCount'];

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(ON_FATAL) onFatal: (error: Error) => void,
    @Inject(Quarantine) quarantine: Pick<Quarantine, 'put'>,
    @Inject(CONFIG) { rules }: Pick<TelemetryProcessorConfig, 'rules'>,
    registry: Registry,
  ) {
    const histories = { geofences: createGeofenceHistory(), settings: createFleetSettingsHistory() };
    observeGeofences(registry, histories.geofences);
    ({ fleet: this.fleet, knownCount: this.knownCount } = knownFleets(histories));
    this.tables = rules === 'all' ? createTables(histories, codecs, { backend, logger, onFatal, quarantine }) : [];
  }

  async onApplicationBootstrap(): Promise<void> {
    await Promise.all(this.tables.map((table) => table.start()));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.tables.map((table) => table.stop()));
  }

  async caughtUp(): Promise<void> {
    await Promise.all(this.tables.map((table) => table.caughtUp()));
  }
}

type Following = Pick<VersionsTableOptions<never>, 'backend' | 'logger' | 'onFatal' | 'quarantine'>;

function createTables(
  { geofences, settings }: FleetHistories,
  codecs: AvroCodecs,
  following: Following,
): GlobalTable[] {
  return [
    createVersionsTable({
      ...following,
      topic: topics.fleetGeofences,
      codec: codecs.fleetGeofences,
      take: (key, geofence, appendedAt) => {
        if (geofence) warnOfFault(geofence, following.logger);
        geofences.record(key, geofence, appendedAt);
      },
    }),
    createVersionsTable({
      ...following,
      topic: topics.fleetSettings,
      codec: codecs.fleetSettings,
      take: (key, version, appendedAt) => settings.record(key, version, appendedAt),
    }),
  ];
}

export function knownFleets({ geofences, settings }: FleetHistories): KnownFleets {
  return {
    fleet(fleetId) {
      const known = { geofences: geofences.fleet(fleetId), settings: settings.fleet(fleetId) };
      return known.geofences === undefined && known.settings === undefined ? undefined : known;
    },
    knownCount: () => geofences.fleetCount + settings.fleetCount,
  };
}

/** No device is ever in such a geofence; the fleet's other geofences are not affected. */
function warnOfFault(geofence: Geofence, logger: StreamsLogger): void {
  const fault = geofenceFault(geofence);
  if (fault === null) return;
  const { fleetId, geofenceId, version } = geofence;
  logger.warn('geofence_unusable', { fleetId, geofenceId, version, fault });
}

interface VersionsTableOptions<Value> {
  readonly backend: StreamsBackend;
  readonly topic: Pick<TopicDefinition, 'name'>;
  readonly codec: SubjectCodec<Value>;
  /** Takes the next record in log order. null: deleted; `appendedAt` is the broker's time, epoch milliseconds. */
  readonly take: (key: string, value: Value | null, appendedAt: number) => void;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  readonly quarantine: Pick<Quarantine, 'put'>;
}

/**
 * Follows a topic of versions; each ping sees those of its time (decisions 0028 and 0030). An unreadable version is
 * quarantined, and the one before it stays in force.
 */
function createVersionsTable<Value>(options: VersionsTableOptions<Value>): GlobalTable {
  const { backend, topic, codec, take, logger, onFatal, quarantine } = options;
  const reader = new VersionReader(topic.name, codec, quarantine);
  return createGlobalTable({
    backend,
    logger,
    onFatal,
    topic: topic.name,
    prepare: reader.prepare,
    onRecord: (key, _bytes, record) => {
      const version = reader.versionOf(record);
      if (version !== undefined) take(key.toString(), version, record.timestamp);
    },
  });
}
