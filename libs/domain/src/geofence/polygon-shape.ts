import pointInPolygon from 'point-in-polygon-hao';
import { boxesOf } from './geo-box.js';
import type { GeofencePolygon } from './geofence.js';
import type { GeofenceShape } from './shape.js';
import { areaInSquareMeters, shiftRing, unwrapRing, type UnwrappedRing, type Vertex } from './polygon-rings.js';
import { METERS_PER_DEGREE, toRadians } from './sphere.js';

/** @param polygon has an outer ring */
export function createPolygonShape({ rings }: GeofencePolygon): GeofenceShape {
  const unwrapped = ringsInOnePlane(rings.map(unwrapRing));
  const outlines = unwrapped.map(({ outline }) => outline);
  const [minLongitude, maxLongitude] = extent(outlines[0] ?? [], 0);
  const [minLatitude, maxLatitude] = extent(outlines[0] ?? [], 1);
  const middle = (minLongitude + maxLongitude) / 2;
  /** The same meridian, at most half a turn from the middle of the polygon. */
  const near = (longitude: number): number => longitude - 360 * Math.round((longitude - middle) / 360);
  const contains = (latitude: number, longitude: number): boolean => {
    if (latitude < minLatitude || latitude > maxLatitude) return false;
    const inPlane = near(longitude);
    if (inPlane < minLongitude || inPlane > maxLongitude) return false;
    // 0: on an edge.
    return pointInPolygon([inPlane, latitude], outlines) !== false;
  };
  return {
    boxes: boxesOf(minLatitude, maxLatitude, minLongitude, maxLongitude),
    radiusInMeters: Math.sqrt(netArea(outlines) / Math.PI),
    contains,
    isBeyond: (latitude, longitude, marginInMeters) =>
      !contains(latitude, longitude) && metersToEdge(unwrapped, latitude, near(longitude)) > marginInMeters,
  };
}

/** A hole beyond the antimeridian is where the outer ring is, and not a turn away. */
function ringsInOnePlane(rings: readonly UnwrappedRing[]): UnwrappedRing[] {
  const middleOf = ({ outline }: UnwrappedRing): number => {
    const [min, max] = extent(outline, 0);
    return (min + max) / 2;
  };
  const [outer, ...holes] = rings;
  if (outer === undefined) return [];
  const turns = (hole: UnwrappedRing): number => Math.round((middleOf(outer) - middleOf(hole)) / 360);
  return [outer, ...holes.map((hole) => shiftRing(hole, 360 * turns(hole)))];
}

function netArea([outer = [], ...holes]: readonly Vertex[][]): number {
  return holes.reduce((left, hole) => Math.max(0, left - areaInSquareMeters(hole)), areaInSquareMeters(outer));
}

function extent(vertices: readonly Vertex[], axis: 0 | 1): [min: number, max: number] {
  let min = Infinity;
  let max = -Infinity;
  for (const vertex of vertices) {
    min = Math.min(min, vertex[axis]);
    max = Math.max(max, vertex[axis]);
  }
  return [min, max];
}

/**
 * In the plane that touches the earth at the place: an edge that is straight in degrees is straight there too. Exact
 * near the place, and an edge that is far away need not be exact to be far away.
 */
function metersToEdge(rings: readonly UnwrappedRing[], latitude: number, longitude: number): number {
  const metersEast = METERS_PER_DEGREE * Math.cos(toRadians(latitude));
  let least = Infinity;
  for (const { edges } of rings) {
    for (let index = 1; index < edges.length; index++) {
      const [fromLongitude, fromLatitude] = edges[index - 1] as Vertex;
      const [toLongitude, toLatitude] = edges[index] as Vertex;
      const x = (fromLongitude - longitude) * metersEast;
      const y = (fromLatitude - latitude) * METERS_PER_DEGREE;
      const dx = (toLongitude - fromLongitude) * metersEast;
      const dy = (toLatitude - fromLatitude) * METERS_PER_DEGREE;
      least = Math.min(least, squareToSegment(x, y, dx, dy));
    }
  }
  return Math.sqrt(least);
}

/** Square of the way from the origin to the segment from (x, y) along (dx, dy). */
function squareToSegment(x: number, y: number, dx: number, dy: number): number {
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, -(x * dx + y * dy) / length));
  const nearX = x + along * dx;
  const nearY = y + along * dy;
  return nearX * nearX + nearY * nearY;
}
