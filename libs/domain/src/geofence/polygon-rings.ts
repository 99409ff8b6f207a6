import type { GeoPoint } from './geofence.js';
import { EARTH_RADIUS_IN_METERS, toRadians } from './sphere.js';

/** Longitude and latitude, degrees. The longitude goes on counting beyond ±180, so that no edge jumps. */
export type Vertex = [longitude: number, latitude: number];

export interface UnwrappedRing {
  /** Closed: the last is the first again, or the same place one turn around the earth further on. */
  readonly edges: readonly Vertex[];
  /** Closed in the plane: a ring around a pole is led over that pole. */
  readonly outline: Vertex[];
}

/** The ring with each point on the side of the one before it where the way is shorter. */
export function unwrapRing(points: readonly GeoPoint[]): UnwrappedRing {
  const edges: Vertex[] = [];
  for (const { latitude, longitude } of [...points, ...points.slice(0, 1)]) {
    const before = edges.at(-1);
    const turns = before === undefined ? 0 : Math.round((before[0] - longitude) / 360);
    edges.push([longitude + 360 * turns, latitude]);
  }
  return { edges, outline: outlineOf(edges) };
}

export function shiftRing({ edges, outline }: UnwrappedRing, degrees: number): UnwrappedRing {
  const shift = ([longitude, latitude]: Vertex): Vertex => [longitude + degrees, latitude];
  return { edges: edges.map(shift), outline: outline.map(shift) };
}

/** Square metres within a closed outline, edges taken as straight in longitude and the sine of the latitude. */
export function areaInSquareMeters(outline: readonly Vertex[]): number {
  let sum = 0;
  outline.forEach(([longitude, latitude], index) => {
    const next = outline[index + 1];
    if (next === undefined) return;
    sum += toRadians(next[0] - longitude) * (2 + Math.sin(toRadians(latitude)) + Math.sin(toRadians(next[1])));
  });
  return Math.abs((sum * EARTH_RADIUS_IN_METERS * EARTH_RADIUS_IN_METERS) / 2);
}

/** A ring that comes back a whole turn further on goes around a pole: the one that is nearer to it. */
function outlineOf(edges: readonly Vertex[]): Vertex[] {
  const [first] = edges;
  const last = edges.at(-1);
  if (first === undefined || last === undefined || Math.abs(last[0] - first[0]) < 180) return [...edges];
  const meanLatitude = edges.reduce((sum, [, latitude]) => sum + latitude, 0) / edges.length;
  const pole = meanLatitude < 0 ? -90 : 90;
  return [...edges, [last[0], pole], [first[0], pole], first];
}
