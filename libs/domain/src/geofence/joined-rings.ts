import pointInPolygon from 'point-in-polygon-hao';
import { METERS_PER_DEGREE, toRadians } from './sphere.js';

/** A closed ring in degrees: longitude and latitude alternate. Longitudes continue beyond ±180, so that no edge jumps. */
export type FlatRing = readonly number[];

/** One list stays in few cache lines: `FRAME_NUMBERS` numbers for the whole, then each ring after its number of places. */
export type JoinedRings = readonly number[];

export const SOUTH = 0;
export const NORTH = 1;
export const WEST = 2;
export const EAST = 3;
/** The radius of a circle of the same area, meters. */
export const RADIUS = 4;
export const FRAME_NUMBERS = 5;

/** Far above the rounding error of the two products whose difference is the side. */
const SURE_SHARE = 1e-14;

export function joinRings(frame: readonly number[], rings: readonly FlatRing[]): JoinedRings {
  const joined = frame.slice();
  for (const ring of rings) {
    joined.push(ring.length / 2);
    for (const value of ring) joined.push(value);
  }
  return joined;
}

/** Whether a place is within an odd number of closed rings, or on an edge of one. */
export function holdsPlace(joined: JoinedRings, longitude: number, latitude: number): boolean {
  let isInside = false;
  for (let ring = FRAME_NUMBERS; ring < joined.length; ring = endOf(joined, ring)) {
    for (let at = ring + 1; at + 3 < endOf(joined, ring); at += 2) {
      const crossing = crossingOf(joined, at, longitude, latitude);
      if (crossing === UNSURE) return holdsPlaceExactly(joined, longitude, latitude);
      if (crossing === WEST_OF_IT) isInside = !isInside;
    }
  }
  return isInside;
}

function endOf(joined: JoinedRings, ring: number): number {
  return ring + 1 + 2 * (joined[ring] as number);
}

const NONE = 0;
const WEST_OF_IT = 1;
const UNSURE = 2;

/** Whether a line to the east from a place meets an edge. */
function crossingOf(joined: JoinedRings, at: number, longitude: number, latitude: number): number {
  const fromLatitude = joined[at + 1] as number;
  const toLatitude = joined[at + 3] as number;
  if (fromLatitude === latitude || toLatitude === latitude) return UNSURE;
  if (fromLatitude > latitude === toLatitude > latitude) return NONE;
  const fromLongitude = joined[at] as number;
  const up = ((joined[at + 2] as number) - fromLongitude) * (latitude - fromLatitude);
  const aside = (longitude - fromLongitude) * (toLatitude - fromLatitude);
  const side = up - aside;
  // True for NaN.
  if (!(Math.abs(side) > SURE_SHARE * (Math.abs(up) + Math.abs(aside)))) return UNSURE;
  return side > 0 === toLatitude > fromLatitude ? WEST_OF_IT : NONE;
}

function holdsPlaceExactly(joined: JoinedRings, longitude: number, latitude: number): boolean {
  const rings: [number, number][][] = [];
  for (let ring = FRAME_NUMBERS; ring < joined.length; ring = endOf(joined, ring)) {
    const places: [number, number][] = [];
    for (let at = ring + 1; at < endOf(joined, ring); at += 2) {
      places.push([joined[at] as number, joined[at + 1] as number]);
    }
    rings.push(places);
  }
  // 0 means on an edge.
  return pointInPolygon([longitude, latitude], rings) !== false;
}

/** Measured in the plane tangent at the place: exact nearby, and a distant edge need not be exact to be distant. */
export function metersToEdge(joined: JoinedRings, longitude: number, latitude: number): number {
  const metersEast = METERS_PER_DEGREE * Math.cos(toRadians(latitude));
  let least = Infinity;
  for (let ring = FRAME_NUMBERS; ring < joined.length; ring = endOf(joined, ring)) {
    for (let at = ring + 1; at + 3 < endOf(joined, ring); at += 2) {
      const fromLongitude = joined[at] as number;
      const fromLatitude = joined[at + 1] as number;
      const x = (fromLongitude - longitude) * metersEast;
      const y = (fromLatitude - latitude) * METERS_PER_DEGREE;
      const dx = ((joined[at + 2] as number) - fromLongitude) * metersEast;
      const dy = ((joined[at + 3] as number) - fromLatitude) * METERS_PER_DEGREE;
      least = Math.min(least, squareToSegment(x, y, dx, dy));
    }
  }
  return Math.sqrt(least);
}

function squareToSegment(x: number, y: number, dx: number, dy: number): number {
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, -(x * dx + y * dy) / length));
  const nearX = x + along * dx;
  const nearY = y + along * dy;
  return nearX * nearX + nearY * nearY;
}
