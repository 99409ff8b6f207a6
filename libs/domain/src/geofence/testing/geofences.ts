import type { Geofence, GeofenceCircle, GeoPoint } from '../../records/geofence.js';

const unnamed = { fleetId: 'fleet-1', name: '', circle: null, polygon: null, version: 1, createdAt: 0, updatedAt: 0 };

export function circleFence(circle: GeofenceCircle, fields: Partial<Geofence> = {}): Geofence {
  const { geofenceId = 'circle' } = fields;
  return { ...unnamed, geofenceId, circle, ...fields, name: fields.name ?? `the ${geofenceId}` };
}

/** Rings of [latitude, longitude]. */
export function polygonFence(
  rings: readonly (readonly [number, number])[][],
  fields: Partial<Geofence> = {},
): Geofence {
  const { geofenceId = 'polygon' } = fields;
  const points = (ring: readonly (readonly [number, number])[]): GeoPoint[] =>
    ring.map(([latitude, longitude]) => ({ latitude, longitude }));
  return {
    ...unnamed,
    geofenceId,
    polygon: { rings: rings.map(points) },
    ...fields,
    name: fields.name ?? `the ${geofenceId}`,
  };
}

const EARTH_RADIUS = 6_371_008.8;
const RADIANS = Math.PI / 180;

/** The place that far from another, on a sphere; bearing in degrees from north, clockwise. */
export function placeAt(from: GeoPoint, meters: number, bearing: number): GeoPoint {
  const angle = meters / EARTH_RADIUS;
  const latitude = from.latitude * RADIANS;
  const course = bearing * RADIANS;
  const sine = Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(course);
  const east = Math.atan2(
    Math.sin(course) * Math.sin(angle) * Math.cos(latitude),
    Math.cos(angle) - Math.sin(latitude) * sine,
  );
  const longitude = from.longitude + east / RADIANS;
  return { latitude: Math.asin(sine) / RADIANS, longitude: ((longitude + 540) % 360) - 180 };
}

/** Meters by the angle between the two directions from the middle of the earth: not as the product computes them. */
export function plainDistance(a: GeoPoint, b: GeoPoint): number {
  const vector = ({ latitude, longitude }: GeoPoint): [number, number, number] => [
    Math.cos(latitude * RADIANS) * Math.cos(longitude * RADIANS),
    Math.cos(latitude * RADIANS) * Math.sin(longitude * RADIANS),
    Math.sin(latitude * RADIANS),
  ];
  const [ax, ay, az] = vector(a);
  const [bx, by, bz] = vector(b);
  const cross = Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
  return EARTH_RADIUS * Math.atan2(cross, ax * bx + ay * by + az * bz);
}
