import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import {
  createGeofenceHistory,
  geofenceFault,
  type FleetGeofences,
  type Geofence,
  type GeofenceHistory,
} from '@waypost/domain';
import {
  createGlobalTable,
  StreamsError,
  type GlobalTable,
  type StreamsBackend,
  type StreamsLogger,
} from '@waypost/streams';

/** The geofences of all fleets with their versions, as `fleet.geofences` has them (R-8, decision 0028). */
export interface GeofenceDirectory extends Pick<GlobalTable, 'start' | 'stop' | 'caughtUp'> {
  /** undefined: the fleet never had one. */
  fleet(fleetId: string): FleetGeofences | undefined;
  /** Grows; a fleet that is known is so for good. */
  readonly fleetCount: number;
}

export interface DirectoryOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  /** Where the records go; a new one unless given. */
  readonly history?: GeofenceHistory;
}

export const createGeofenceDirectory = (options: DirectoryOptions): GeofenceDirectory => {
  const { codecs, logger, history = createGeofenceHistory() } = options;
  const table = createGlobalTable({
    ...options,
    topic: topics.fleetGeofences.name,
    prepare: (records) => resolveBatch(codecs.fleetGeofences, records),
    onRecord: (key, value, { timestamp }) => {
      const geofence = value === null ? null : readGeofence(codecs, value);
      if (geofence) warnOfFault(geofence, logger);
      history.record(key.toString(), geofence, timestamp);
    },
  });
  return {
    start: () => table.start(),
    stop: () => table.stop(),
    caughtUp: () => table.caughtUp(),
    fleet: (fleetId) => history.fleet(fleetId),
    get fleetCount() {
      return history.fleetCount;
    },
  };
};

const readGeofence = (codecs: AvroCodecs, value: Buffer): Geofence => {
  const decoded = codecs.fleetGeofences.decode(value);
  if (decoded.type === 'decoded') return decoded.value;
  throw new StreamsError(
    'CORRUPT_STATE',
    `A geofence in ${topics.fleetGeofences.name} cannot be read: ${decoded.type}.`,
  );
};

/** Nobody is ever in such a geofence; the other ones go on. */
const warnOfFault = (geofence: Geofence, logger: StreamsLogger): void => {
  const fault = geofenceFault(geofence);
  if (fault === null) return;
  const { fleetId, geofenceId, version } = geofence;
  logger.warn('geofence_unusable', { fleetId, geofenceId, version, fault });
};
