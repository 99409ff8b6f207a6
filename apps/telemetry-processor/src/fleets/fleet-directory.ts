import { type AvroCodecs, type SubjectCodec, type TopicDefinition, topics } from '@waypost/contracts';
import {
  type FleetGeofences,
  type FleetSettingsHistory,
  type FleetSettingsVersions,
  type Geofence,
  geofenceFault,
  type GeofenceHistory,
} from '@waypost/domain';
import { type Quarantine, VersionReader } from '@waypost/platform';
import { createGlobalTable, type GlobalTable, type StreamsBackend, type StreamsLogger } from '@waypost/streams';

/** undefined: the fleet never had any. */
export interface KnownFleet {
  readonly geofences: FleetGeofences | undefined;
  readonly settings: FleetSettingsVersions | undefined;
}

export interface KnownFleets {
  fleet(fleetId: string): KnownFleet | undefined;
  /** Grows with each fleet that gets its first geofence or settings. None is ever forgotten. */
  knownCount(): number;
}

/** The geofences and the settings of all fleets with their versions, from their topics. */
export abstract class FleetDirectory implements KnownFleets, Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  abstract fleet(fleetId: string): KnownFleet | undefined;
  abstract knownCount(): number;
  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;
  abstract caughtUp(): Promise<void>;
}

export interface FleetHistories {
  readonly geofences: GeofenceHistory;
  readonly settings: FleetSettingsHistory;
}

export interface FleetDirectoryOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  readonly histories: FleetHistories;
  readonly quarantine: Pick<Quarantine, 'put'>;
}

export function createFleetDirectory({ codecs, histories, ...following }: FleetDirectoryOptions): FleetDirectory {
  const { geofences, settings } = histories;
  const tables = [
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
  const all = async (work: (table: GlobalTable) => Promise<void>): Promise<void> => {
    await Promise.all(tables.map(work));
  };
  return {
    ...knownFleets(histories),
    start: () => all((table) => table.start()),
    stop: () => all((table) => table.stop()),
    caughtUp: () => all((table) => table.caughtUp()),
  };
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
