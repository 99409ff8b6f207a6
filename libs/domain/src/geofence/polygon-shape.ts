import { boxesOf, type GeoBox } from './geo-box.js';
import type { GeofencePolygon } from './geofence.js';
import {
  EAST,
  holdsPlace,
  joinRings,
  metersToEdge,
  NORTH,
  RADIUS,
  SOUTH,
  WEST,
  type JoinedRings,
} from './joined-rings.js';
import { areaInSquareMeters, extentOf, shiftRing, unwrapRing, type UnwrappedRing } from './polygon-rings.js';
import type { GeofenceShape } from './shape.js';

export class PolygonShape implements GeofenceShape {
  private readonly edges: JoinedRings;
  /** The same list where no ring goes around a pole. */
  private readonly outline: JoinedRings;

  /** @param polygon has an outer ring */
  constructor({ rings }: GeofencePolygon) {
    const unwrapped = ringsInOnePlane(rings.map(unwrapRing));
    const outlines = unwrapped.map(({ outline }) => outline);
    const edges = unwrapped.map((ring) => ring.edges);
    const frame = frameOf(outlines);
    this.edges = joinRings(frame, edges);
    this.outline = edges.every((ring, index) => ring === outlines[index]) ? this.edges : joinRings(frame, outlines);
  }

  get boxes(): readonly GeoBox[] {
    const { edges } = this;
    return boxesOf(edges[SOUTH] as number, edges[NORTH] as number, edges[WEST] as number, edges[EAST] as number);
  }

  get radiusInMeters(): number {
    return this.edges[RADIUS] as number;
  }

  contains(latitude: number, longitude: number): boolean {
    const { outline } = this;
    if (latitude < (outline[SOUTH] as number) || latitude > (outline[NORTH] as number)) return false;
    const inPlane = this.near(longitude);
    if (inPlane < (outline[WEST] as number) || inPlane > (outline[EAST] as number)) return false;
    return holdsPlace(outline, inPlane, latitude);
  }

  isBeyond(latitude: number, longitude: number, marginInMeters: number): boolean {
    if (this.contains(latitude, longitude)) return false;
    return metersToEdge(this.edges, this.near(longitude), latitude) > marginInMeters;
  }

  /** The same meridian, at most half a turn from the middle of the polygon. */
  private near(longitude: number): number {
    const middle = ((this.edges[WEST] as number) + (this.edges[EAST] as number)) / 2;
    return longitude - 360 * Math.round((longitude - middle) / 360);
  }
}

/** A hole beyond the antimeridian is where the outer ring is, and not a turn away. */
function ringsInOnePlane(rings: readonly UnwrappedRing[]): UnwrappedRing[] {
  const middleOf = ({ outline }: UnwrappedRing): number => {
    const [min, max] = extentOf(outline, 0);
    return (min + max) / 2;
  };
  const [outer, ...holes] = rings;
  if (outer === undefined) return [];
  const turns = (hole: UnwrappedRing): number => Math.round((middleOf(outer) - middleOf(hole)) / 360);
  return [outer, ...holes.map((hole) => shiftRing(hole, 360 * turns(hole)))];
}

/** As JoinedRings begin. */
function frameOf([outer = [], ...holes]: readonly JoinedRings[]): number[] {
  const [west, east] = extentOf(outer, 0);
  const [south, north] = extentOf(outer, 1);
  const area = holes.reduce((left, hole) => Math.max(0, left - areaInSquareMeters(hole)), areaInSquareMeters(outer));
  return [south, north, west, east, Math.sqrt(area / Math.PI)];
}
