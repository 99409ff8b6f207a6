import type { DeviceGeofences, GeofenceVisit } from '../telemetry/device-state.js';
import type { GeoBox } from './geo-box.js';
import type { GeofenceIndex } from './geofence-index.js';
import type { GeofenceVersion } from './geofence-version.js';
import { METERS_PER_DEGREE } from './sphere.js';

/** Beyond, a degree of longitude is so short that nothing is gained. */
const MOST_LATITUDE = 85;
/** Of the way to an edge that the sides of a square may be away: its corners are then 0.85 of it away. */
const SHARE_OF_WAY = 0.6;

/**
 * An area around a place in which a device stays, without the edge of the area, in exactly the geofences that it is in: a fix in
 * it changes nothing of them. It holds as long as the index does, and may be empty: next to an edge nothing is left of it.
 *
 * @param before what is known of the device
 * @returns null: a fix at the place itself may change something
 */
export function calmAreaAt(
  index: GeofenceIndex,
  latitude: number,
  longitude: number,
  { visits, seenAt }: DeviceGeofences,
): GeoBox | null {
  if (!(Math.abs(latitude) <= MOST_LATITUDE)) return null;
  const near = index.near(latitude, longitude);
  for (const visit of visits) if (visit.leavingSince !== null || !isNear(near, visit)) return null;
  let degrees = Infinity;
  for (const { geofenceId, since, shape } of near) {
    const isVisited = isIn(visits, geofenceId);
    if (shape.contains(latitude, longitude) !== isVisited || (isVisited && since > seenAt)) return null;
    degrees = Math.min(degrees, (SHARE_OF_WAY * shape.metersToEdge(latitude, longitude)) / METERS_PER_DEGREE);
  }
  const area = index.areaOfNear(latitude, longitude);
  return near.length === 0 ? area : withinDegrees(area, latitude, longitude, degrees);
}

function isNear(near: readonly GeofenceVersion[], { geofenceId }: GeofenceVisit): boolean {
  for (const version of near) if (version.geofenceId === geofenceId) return true;
  return false;
}

function isIn(visits: readonly GeofenceVisit[], geofenceId: string): boolean {
  for (const visit of visits) if (visit.geofenceId === geofenceId) return true;
  return false;
}

function withinDegrees(area: GeoBox, latitude: number, longitude: number, degrees: number): GeoBox {
  return {
    minLatitude: Math.max(area.minLatitude, latitude - degrees),
    maxLatitude: Math.min(area.maxLatitude, latitude + degrees),
    minLongitude: Math.max(area.minLongitude, longitude - degrees),
    maxLongitude: Math.min(area.maxLongitude, longitude + degrees),
  };
}
