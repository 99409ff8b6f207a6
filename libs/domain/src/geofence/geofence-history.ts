import { FleetGeofences } from './fleet-geofences.js';
import { fleetHash, GeofenceFilter } from './geofence-filter.js';
import { parseGeofenceKey, type Geofence } from './geofence.js';

/** The geofences of all fleets, as the records of `fleet.geofences` tell them. */
export interface GeofenceHistory {
  /**
   * The next record of the topic.
   *
   * @param geofence null: it is deleted
   * @param appendedAt broker time, epoch milliseconds
   */
  record(key: string, geofence: Geofence | null, appendedAt: number): void;
  /** undefined: the fleet never had one. */
  fleet(fleetId: string): FleetGeofences | undefined;
  /** False: no version of any geofence of the fleet holds the place. `hash` is the fleetHash() of the fleet's id. */
  mayHold(hash: number, latitude: number, longitude: number): boolean;
  readonly fleetCount: number;
  readonly versionCount: number;
}

export function createGeofenceHistory(): GeofenceHistory {
  const fleets = new Map<string, FleetGeofences>();
  const hashOf = (fleetId: string): number => {
    const bytes = new TextEncoder().encode(fleetId);
    return fleetHash(bytes, 0, bytes.length);
  };
  const filter = new GeofenceFilter((add) => {
    for (const [fleetId, fleet] of fleets) {
      const hash = hashOf(fleetId);
      for (const { shape } of fleet.allVersions()) add(hash, shape.boxes);
    }
  });
  const put = (geofence: Geofence, appendedAt: number): void => {
    let fleet = fleets.get(geofence.fleetId);
    if (fleet === undefined) fleets.set(geofence.fleetId, (fleet = new FleetGeofences()));
    const version = fleet.put(geofence, appendedAt);
    if (version) filter.add(hashOf(geofence.fleetId), version.shape.boxes);
  };
  return {
    record(key, geofence, appendedAt) {
      if (geofence) {
        put(geofence, appendedAt);
        return;
      }
      const { fleetId, geofenceId } = parseGeofenceKey(key);
      fleets.get(fleetId)?.remove(geofenceId, appendedAt);
    },
    fleet: (fleetId) => fleets.get(fleetId),
    mayHold: (hash, latitude, longitude) => filter.mayHold(hash, latitude, longitude),
    get fleetCount() {
      return fleets.size;
    },
    get versionCount() {
      return [...fleets.values()].reduce((sum, fleet) => sum + fleet.versionCount, 0);
    },
  };
}
