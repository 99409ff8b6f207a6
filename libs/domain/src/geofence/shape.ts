export interface GeofenceShape {
  readonly boxes: readonly GeoBox[];
  readonly radiusInMeters: number;
  /** A place on the edge is inside. */
  contains(latitude: number, longitude: number): boolean;
  isBeyond(latitude: number, longitude: number, marginInMeters: number): boolean;
}

/** Longitudes are between -180 and 180: a shape that crosses the antimeridian has two boxes. */
export interface GeoBox {
  readonly minLatitude: number;
  readonly maxLatitude: number;
  readonly minLongitude: number;
  readonly maxLongitude: number;
}

/** About a centimeter: rounding must not keep a place on the edge of a shape out of its box. */
const SLACK_DEGREES = 1e-7;

/** Longitudes may lie beyond ±180. */
export function boxesOf(
  minLatitude: number,
  maxLatitude: number,
  minLongitude: number,
  maxLongitude: number,
): readonly GeoBox[] {
  const box = (west: number, east: number): GeoBox => ({
    minLatitude: minLatitude - SLACK_DEGREES,
    maxLatitude: maxLatitude + SLACK_DEGREES,
    minLongitude: west,
    maxLongitude: east,
  });
  const width = maxLongitude - minLongitude + 2 * SLACK_DEGREES;
  if (!(width < 360)) return [box(-180, 180)];
  const west = wrapLongitude(minLongitude - SLACK_DEGREES);
  const east = west + width;
  return east < 180 ? [box(west, east)] : [box(west, 180), box(-180, east - 360)];
}

function wrapLongitude(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}
