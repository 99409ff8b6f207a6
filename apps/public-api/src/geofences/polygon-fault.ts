/** [longitude, latitude], degrees. */
export type Position = readonly [number, number];

/** A fault of a polygon, and its place: the index of the ring, and of the position in it. */
interface PolygonFault {
  readonly path: readonly number[];
  readonly message: string;
}

/** In all rings of a polygon together, without the positions that close a ring. */
export const MAX_POSITIONS = 1_000;

/**
 * The first reason why these rings are not a polygon on the earth, or null. Rings must be simple, with edges that
 * take the shorter way around; holes lie inside the outer ring and outside each other.
 */
export function polygonFault(coordinates: readonly (readonly Position[])[]): PolygonFault | null {
  const rings = coordinates.map(withoutClosing);
  const count = rings.reduce((sum, ring) => sum + ring.length, 0);
  if (count > MAX_POSITIONS) {
    const message = `must have at most ${String(MAX_POSITIONS)} positions in all rings together, not ${String(count)}`;
    return { path: [], message };
  }
  const planes: (readonly PlanePoint[])[] = [];
  for (const [index, ring] of rings.entries()) {
    const unrolled = unroll(ring, index);
    if (unrolled.type === 'fault') return unrolled.fault;
    planes.push(index === 0 ? unrolled.points : besideOuter(unrolled.points, planes[0] ?? []));
  }
  return crossingFault(planes) ?? holeFault(planes);
}

function withoutClosing(ring: readonly Position[]): readonly Position[] {
  const [first, last] = [ring[0], ring.at(-1)];
  const isClosed = ring.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
  return isClosed ? ring.slice(0, -1) : ring;
}

type Unrolled =
  | { readonly type: 'unrolled'; readonly points: readonly PlanePoint[] }
  | { readonly type: 'fault'; readonly fault: PolygonFault };

function fault(path: readonly number[], message: string): Unrolled {
  return { type: 'fault', fault: { path, message } };
}

/** The ring on a plane on which the antimeridian is not an edge: longitudes continue beyond 180. */
function unroll(ring: readonly Position[], ringIndex: number): Unrolled {
  if (ring.length < 3) return fault([ringIndex], 'must have at least 3 positions, not counting the one that closes it');
  const points: PlanePoint[] = [];
  let x = ring[0]?.[0] ?? 0;
  // One step more than positions: the last one closes the ring.
  for (let index = 0; index <= ring.length; index++) {
    const [longitude, y] = ring[index % ring.length] ?? [0, 0];
    const before = ring[(index + ring.length - 1) % ring.length] ?? [0, 0];
    if (index > 0) {
      const path = [ringIndex, index % ring.length];
      const step = shorterWay(longitude - before[0]);
      if (step === 0 && y === before[1]) return fault(path, 'must differ from the position before it');
      if (Math.abs(step) === 180)
        return fault(path, 'is exactly half way around the earth from the position before it');
      x += step;
    }
    if (index < ring.length) points.push({ x, y });
  }
  const [start = 0, xs] = [points[0]?.x, points.map((point) => point.x)];
  // Steps are sums of differences: equal up to rounding.
  if (Math.abs(x - start) > 1) return fault([ringIndex], 'must not enclose a pole');
  if (Math.max(...xs) - Math.min(...xs) >= 360) return fault([ringIndex], 'must not go all the way around the earth');
  return { type: 'unrolled', points };
}

function shorterWay(degrees: number): number {
  if (degrees > 180) return degrees - 360;
  return degrees < -180 ? degrees + 360 : degrees;
}

/** A hole may have been unrolled 360 degrees away from the outer ring. */
function besideOuter(hole: readonly PlanePoint[], outer: readonly PlanePoint[]): readonly PlanePoint[] {
  const first = hole[0];
  const shift = [0, 360, -360].find((x) => first !== undefined && isInside({ x: first.x + x, y: first.y }, outer)) ?? 0;
  return hole.map(({ x, y }) => ({ x: x + shift, y }));
}

function crossingFault(planes: readonly (readonly PlanePoint[])[]): PolygonFault | null {
  const crossing = crossingEdges(planes.flatMap(edgesOf));
  if (crossing === null) return null;
  const [one, other] = crossing;
  const [earlier, later] = comesBefore(one, other) ? [one, other] : [other, one];
  const where = `position ${String(earlier.index)} of ring ${String(earlier.ring)}`;
  return { path: [later.ring, later.index], message: `begins an edge that crosses or touches the one from ${where}` };
}

function comesBefore(one: Edge, other: Edge): boolean {
  return one.ring === other.ring ? one.index < other.index : one.ring < other.ring;
}

/** Edges are known not to touch, so one position of a hole shows where all of it is. */
function holeFault([outer = [], ...holes]: readonly (readonly PlanePoint[])[]): PolygonFault | null {
  for (const [index, hole] of holes.entries()) {
    const [first] = hole;
    if (first === undefined) continue;
    if (!isInside(first, outer)) return { path: [index + 1], message: 'must lie inside the outer ring' };
    const inOther = holes.some((other) => other !== hole && isInside(first, other));
    if (inOther) return { path: [index + 1], message: 'must not lie inside another hole' };
  }
  return null;
}

interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

/** From one position of a ring to the next. */
interface Edge {
  readonly ring: number;
  /** Index of the position where it begins. */
  readonly index: number;
  /** How many edges the ring has. */
  readonly count: number;
  readonly from: PlanePoint;
  readonly to: PlanePoint;
}

function edgesOf(points: readonly PlanePoint[], ring: number): Edge[] {
  const count = points.length;
  return points.map((from, index) => ({ ring, index, count, from, to: points[(index + 1) % count] ?? from }));
}

/** Two edges that cross or touch, other than neighbors at the position that they share; or null. */
function crossingEdges(edges: readonly Edge[]): readonly [Edge, Edge] | null {
  const fromLeft = edges
    .map((edge) => ({ edge, left: Math.min(edge.from.x, edge.to.x), right: Math.max(edge.from.x, edge.to.x) }))
    .sort((a, b) => a.left - b.left);
  for (const [position, { edge, right }] of fromLeft.entries()) {
    for (let next = position + 1; next < fromLeft.length; next++) {
      const other = fromLeft[next];
      if (other === undefined || other.left > right) break;
      if (collide(edge, other.edge)) return [edge, other.edge];
    }
  }
  return null;
}

function collide(one: Edge, other: Edge): boolean {
  if (one.ring !== other.ring) return touch(one, other);
  const ahead = (other.index - one.index + one.count) % one.count;
  if (ahead === 1) return foldsBack(one, other);
  if (ahead === one.count - 1) return foldsBack(other, one);
  return touch(one, other);
}

/** Whether the second edge runs back over the first. */
function foldsBack(before: Edge, after: Edge): boolean {
  if (orientation(before.from, before.to, after.to) !== 0) return false;
  const along = (after.to.x - before.to.x) * (before.to.x - before.from.x);
  return along + (after.to.y - before.to.y) * (before.to.y - before.from.y) < 0;
}

function touch({ from: a, to: b }: Edge, { from: c, to: d }: Edge): boolean {
  if (Math.max(a.y, b.y) < Math.min(c.y, d.y) || Math.max(c.y, d.y) < Math.min(a.y, b.y)) return false;
  const [abc, abd, cda, cdb] = [orientation(a, b, c), orientation(a, b, d), orientation(c, d, a), orientation(c, d, b)];
  if (abc !== abd && cda !== cdb) return true;
  const touches = [abc === 0 && within(c, a, b), abd === 0 && within(d, a, b), cda === 0 && within(a, c, d)];
  return touches.includes(true) || (cdb === 0 && within(b, c, d));
}

/** -1, 0 or 1: clockwise, collinear or counterclockwise. */
function orientation(a: PlanePoint, b: PlanePoint, c: PlanePoint): number {
  return Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

/** For a point on the line through both. */
function within(point: PlanePoint, a: PlanePoint, b: PlanePoint): boolean {
  const insideX = point.x >= Math.min(a.x, b.x) && point.x <= Math.max(a.x, b.x);
  return insideX && point.y >= Math.min(a.y, b.y) && point.y <= Math.max(a.y, b.y);
}

/** Counts how often a ray to the right crosses the ring. A point on an edge may be either. */
function isInside(point: PlanePoint, ring: readonly PlanePoint[]): boolean {
  let inside = false;
  for (const { from, to } of edgesOf(ring, 0)) {
    if (from.y > point.y === to.y > point.y) continue;
    if (point.x < ((to.x - from.x) * (point.y - from.y)) / (to.y - from.y) + from.x) inside = !inside;
  }
  return inside;
}
