import { joinIds, splitIds } from '../event/event-id.js';
import type { Geofence } from '../records/geofence.js';

type GeofenceRef = Pick<Geofence, 'fleetId' | 'geofenceId'>;

/** The key of a geofence's records in `fleet.geofences`. */
export function geofenceKey({ fleetId, geofenceId }: GeofenceRef): string {
  return joinIds(fleetId, geofenceId);
}

export function parseGeofenceKey(key: string): GeofenceRef {
  const [fleetId = '', geofenceId = ''] = splitIds(key);
  return { fleetId, geofenceId };
}
