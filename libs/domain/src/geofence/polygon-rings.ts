import type { GeoPoint } from './geofence.js';
import { EARTH_RADIUS_IN_METERS, toRadians } from './sphere.js';

/**
 * A closed ring in the plane of degrees: longitude and latitude by turns, the last place the first again. The longitude goes on
 * counting beyond ±180, so that no edge jumps.
 */
export type FlatRing = readonly number[];

export interface UnwrappedRing {
  /** The last is the first again, or the same place one turn around the earth further on. */
  readonly edges: FlatRing;
  /** Closed in the plane: a ring around a pole is led over that pole. */
  readonly outline: FlatRing;
}

/** The ring with each point on the side of the one before it where the way is shorter. */
export function unwrapRing(points: readonly GeoPoint[]): UnwrappedRing {
  const edges: number[] = [];
  for (let index = 0; index <= points.length; index++) {
    const { latitude, longitude } = points[index % points.length] as GeoPoint;
    const before = index === 0 ? longitude : (edges[2 * index - 2] as number);
    edges.push(longitude + 360 * Math.round((before - longitude) / 360), latitude);
  }
  return { edges, outline: outlineOf(edges) };
}

export function shiftRing(unwrapped: UnwrappedRing, degrees: number): UnwrappedRing {
  if (degrees === 0) return unwrapped;
  const { edges, outline } = unwrapped;
  const shift = (ring: FlatRing): FlatRing => ring.map((value, index) => (index % 2 === 0 ? value + degrees : value));
  return { edges: shift(edges), outline: shift(outline) };
}

/** Square metres within a closed outline, edges taken as straight in longitude and the sine of the latitude. */
export function areaInSquareMeters(outline: FlatRing): number {
  let sum = 0;
  let longitude = outline[0] as number;
  let sine = Math.sin(toRadians(outline[1] as number));
  for (let at = 2; at + 1 < outline.length; at += 2) {
    const toLongitude = outline[at] as number;
    const toSine = Math.sin(toRadians(outline[at + 1] as number));
    sum += toRadians(toLongitude - longitude) * (2 + sine + toSine);
    longitude = toLongitude;
    sine = toSine;
  }
  return Math.abs((sum * EARTH_RADIUS_IN_METERS * EARTH_RADIUS_IN_METERS) / 2);
}

/** @param first 0: of the longitudes; 1: of the latitudes */
export function extentOf(ring: FlatRing, first: 0 | 1): [min: number, max: number] {
  let min = Infinity;
  let max = -Infinity;
  for (let at: number = first; at < ring.length; at += 2) {
    min = Math.min(min, ring[at] as number);
    max = Math.max(max, ring[at] as number);
  }
  return [min, max];
}

/** A ring that comes back a whole turn further on goes around a pole: the one that is nearer to it. */
function outlineOf(edges: FlatRing): FlatRing {
  const [first = 0, firstLatitude = 0] = edges;
  const last = edges.at(-2) ?? first;
  if (Math.abs(last - first) < 180) return edges;
  let sum = 0;
  for (let at = 1; at < edges.length; at += 2) sum += edges[at] as number;
  const pole = sum < 0 ? -90 : 90;
  return [...edges, last, pole, first, pole, first, firstLatitude];
}
