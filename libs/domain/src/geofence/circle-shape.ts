import { boxesOf, type GeoBox } from './geo-box.js';
import type { GeofenceCircle } from './geofence.js';
import type { GeofenceShape } from './shape.js';
import { arcInMeters, EARTH_RADIUS_IN_METERS, METERS_PER_DEGREE, toDegrees, toRadians } from './sphere.js';

/** Up to there a plane that touches the earth at the centre is wrong by less than half a per cent. */
const PLANE_LATITUDE = 70;
const PLANE_METERS = 20_000;
/** What the plane says is believed when it is clear by that much; the sphere is asked for what lies between. */
const CLEAR_SHARE = 0.02;

export function createCircleShape({ latitude, longitude, radiusInMeters }: GeofenceCircle): GeofenceShape {
  const cosine = Math.cos(toRadians(latitude));
  const metersEast = METERS_PER_DEGREE * cosine;
  const hasPlane = Math.abs(latitude) <= PLANE_LATITUDE;
  const isWithin = (toLatitude: number, toLongitude: number, limit: number): boolean => {
    const north = (toLatitude - latitude) * METERS_PER_DEGREE;
    // A metre is more than rounding can do.
    if (Math.abs(north) > limit + 1) return false;
    const turn = toLongitude - longitude;
    // Asked for each ping that comes near: the sphere costs ten times as much.
    if (hasPlane && limit <= PLANE_METERS && Math.abs(turn) < 180) {
      const east = turn * metersEast;
      const share = (east * east + north * north) / (limit * limit);
      if (share < (1 - CLEAR_SHARE) ** 2) return true;
      if (share > (1 + CLEAR_SHARE) ** 2) return false;
    }
    const toCosine = Math.cos(toRadians(toLatitude));
    return arcInMeters(latitude, longitude, cosine, toLatitude, toLongitude, toCosine) <= limit;
  };
  return {
    boxes: boxesAround(latitude, longitude, radiusInMeters),
    radiusInMeters,
    contains: (toLatitude, toLongitude) => isWithin(toLatitude, toLongitude, radiusInMeters),
    isBeyond: (toLatitude, toLongitude, marginInMeters) =>
      !isWithin(toLatitude, toLongitude, radiusInMeters + marginInMeters),
  };
}

function boxesAround(latitude: number, longitude: number, radiusInMeters: number): readonly GeoBox[] {
  const angle = radiusInMeters / EARTH_RADIUS_IN_METERS;
  const reach = toDegrees(angle);
  const south = latitude - reach;
  const north = latitude + reach;
  // Every meridian meets a circle around a pole.
  if (south <= -90 || north >= 90) return boxesOf(Math.max(-90, south), Math.min(90, north), -180, 180);
  const east = toDegrees(Math.asin(Math.sin(angle) / Math.cos(toRadians(latitude))));
  return boxesOf(south, north, longitude - east, longitude + east);
}
