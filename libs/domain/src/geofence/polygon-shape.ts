import type { GeofencePolygon, GeoPoint } from '../records/geofence.js';
import {
  EAST,
  type FlatRing,
  holdsPlace,
  type JoinedRings,
  joinRings,
  metersToEdge,
  NORTH,
  RADIUS,
  SOUTH,
  WEST,
} from './joined-rings.js';
import { boxesOf, type GeoBox, type GeofenceShape } from './shape.js';
import { EARTH_RADIUS_IN_METERS, toRadians } from './sphere.js';

export class PolygonShape implements GeofenceShape {
  private readonly edges: JoinedRings;
  /** The same list if no ring goes around a pole. */
  private readonly outline: JoinedRings;

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

  private near(longitude: number): number {
    const middle = ((this.edges[WEST] as number) + (this.edges[EAST] as number)) / 2;
    return longitude - 360 * Math.round((longitude - middle) / 360);
  }
}

/** A hole beyond the antimeridian belongs next to its outer ring, not a full turn away. */
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

function frameOf([outer = [], ...holes]: readonly JoinedRings[]): number[] {
  const [west, east] = extentOf(outer, 0);
  const [south, north] = extentOf(outer, 1);
  const area = holes.reduce((left, hole) => Math.max(0, left - areaInSquareMeters(hole)), areaInSquareMeters(outer));
  return [south, north, west, east, Math.sqrt(area / Math.PI)];
}

export interface UnwrappedRing {
  readonly edges: FlatRing;
  /** Closed in the plane: a ring around a pole is led over that pole. */
  readonly outline: FlatRing;
}

function unwrapRing(points: readonly GeoPoint[]): UnwrappedRing {
  const edges: number[] = [];
  for (let index = 0; index <= points.length; index++) {
    const { latitude, longitude } = points[index % points.length] as GeoPoint;
    const before = index === 0 ? longitude : (edges[2 * index - 2] as number);
    edges.push(longitude + 360 * Math.round((before - longitude) / 360), latitude);
  }
  return { edges, outline: outlineOf(edges) };
}

function shiftRing(unwrapped: UnwrappedRing, degrees: number): UnwrappedRing {
  if (degrees === 0) return unwrapped;
  const { edges, outline } = unwrapped;
  const shift = (ring: FlatRing): FlatRing => ring.map((value, index) => (index % 2 === 0 ? value + degrees : value));
  return { edges: shift(edges), outline: shift(outline) };
}

/** Treats edges as straight in longitude and the sine of the latitude. */
function areaInSquareMeters(outline: FlatRing): number {
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

function extentOf(ring: FlatRing, first: 0 | 1): [min: number, max: number] {
  let min = Infinity;
  let max = -Infinity;
  for (let at: number = first; at < ring.length; at += 2) {
    min = Math.min(min, ring[at] as number);
    max = Math.max(max, ring[at] as number);
  }
  return [min, max];
}

/** A ring that ends a full turn further on goes around the nearer pole. */
function outlineOf(edges: FlatRing): FlatRing {
  const [first = 0, firstLatitude = 0] = edges;
  const last = edges.at(-2) ?? first;
  if (Math.abs(last - first) < 180) return edges;
  let sum = 0;
  for (let at = 1; at < edges.length; at += 2) sum += edges[at] as number;
  const pole = sum < 0 ? -90 : 90;
  return [...edges, last, pole, first, pole, first, firstLatitude];
}
