import { topics, type AvroCodecs } from '@waypost/contracts';
import {
  geofenceFault,
  type FleetGeofences,
  type FleetSettingsHistory,
  type FleetSettingsVersions,
  type Geofence,
  type GeofenceHistory,
} from '@waypost/domain';
import type { GlobalTable, StreamsBackend, StreamsLogger } from '@waypost/streams';
import { createVersionsTable } from './versions-table.js';

/** What the rules ask of the fleet of a ping; of either, undefined: there never was any. */
export interface KnownFleet {
  readonly geofences: FleetGeofences | undefined;
  readonly settings: FleetSettingsVersions | undefined;
}

export interface KnownFleets {
  /** undefined: nothing is known of it. */
  fleet(fleetId: string): KnownFleet | undefined;
  /** Grows when more becomes known of any fleet than the versions of what was; what is known stays so for good. */
  knownCount(): number;
}

/** The geofences and the settings of all fleets with their versions, as their topics have them. */
export interface FleetDirectory extends KnownFleets, Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {}

export interface FleetHistories {
  readonly geofences: GeofenceHistory;
  readonly settings: FleetSettingsHistory;
}

export interface FleetDirectoryOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  /** Where the records go. */
  readonly histories: FleetHistories;
}

export const createFleetDirectory = ({ codecs, histories, ...following }: FleetDirectoryOptions): FleetDirectory => {
  const { geofences, settings } = histories;
  const tables = [
    createVersionsTable({
      ...{ ...following, topic: topics.fleetGeofences, codec: codecs.fleetGeofences },
      take: (key, geofence, appendedAt) => {
        if (geofence) warnOfFault(geofence, following.logger);
        geofences.record(key, geofence, appendedAt);
      },
    }),
    createVersionsTable({
      ...{ ...following, topic: topics.fleetSettings, codec: codecs.fleetSettings },
      take: (key, version, appendedAt) => {
        settings.record(key, version, appendedAt);
      },
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
};

export const knownFleets = ({ geofences, settings }: FleetHistories): KnownFleets => ({
  fleet(fleetId) {
    const known = { geofences: geofences.fleet(fleetId), settings: settings.fleet(fleetId) };
    return known.geofences === undefined && known.settings === undefined ? undefined : known;
  },
  knownCount: () => geofences.fleetCount + settings.fleetCount,
});

/** Nobody is ever in such a geofence; the other ones go on. */
const warnOfFault = (geofence: Geofence, logger: StreamsLogger): void => {
  const fault = geofenceFault(geofence);
  if (fault === null) return;
  const { fleetId, geofenceId, version } = geofence;
  logger.warn('geofence_unusable', { fleetId, geofenceId, version, fault });
};
