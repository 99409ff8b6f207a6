/** Geofences are measured on a sphere, as on the maps on which people draw them: at most 0.6 % off the ellipsoid. */
export const EARTH_RADIUS_IN_METERS = 6_371_008.8;

const RADIANS = Math.PI / 180;

export const METERS_PER_DEGREE = EARTH_RADIUS_IN_METERS * RADIANS;

export function toRadians(degrees: number): number {
  return degrees * RADIANS;
}
export function toDegrees(radians: number): number {
  return radians / RADIANS;
}

/** The haversine formula, with the cosines of both latitudes given. */
export function arcInMeters(
  latitudeA: number,
  longitudeA: number,
  cosineA: number,
  latitudeB: number,
  longitudeB: number,
  cosineB: number,
): number {
  const sineLatitude = Math.sin((toRadians(latitudeB) - toRadians(latitudeA)) / 2);
  const sineLongitude = Math.sin((toRadians(longitudeB) - toRadians(longitudeA)) / 2);
  const haversine = sineLatitude * sineLatitude + cosineA * cosineB * sineLongitude * sineLongitude;
  return 2 * EARTH_RADIUS_IN_METERS * Math.asin(Math.min(1, Math.sqrt(haversine)));
}
