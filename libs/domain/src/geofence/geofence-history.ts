import { FleetGeofences } from './fleet-geofences.js';
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
  readonly fleetCount: number;
  readonly versionCount: number;
}

export function createGeofenceHistory(): GeofenceHistory {
  const fleets = new Map<string, FleetGeofences>();
  const put = (geofence: Geofence, appendedAt: number): void => {
    let fleet = fleets.get(geofence.fleetId);
    if (fleet === undefined) fleets.set(geofence.fleetId, (fleet = new FleetGeofences()));
    fleet.put(geofence, appendedAt);
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
    get fleetCount() {
      return fleets.size;
    },
    get versionCount() {
      return [...fleets.values()].reduce((sum, fleet) => sum + fleet.versionCount, 0);
    },
  };
}
