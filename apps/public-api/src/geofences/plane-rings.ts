export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

/** From one position of a ring to the next. */
export interface Edge {
  readonly ring: number;
  /** Index of the position where it begins. */
  readonly index: number;
  /** How many edges the ring has. */
  readonly count: number;
  readonly from: PlanePoint;
  readonly to: PlanePoint;
}

export function edgesOf(points: readonly PlanePoint[], ring: number): Edge[] {
  const count = points.length;
  return points.map((from, index) => ({ ring, index, count, from, to: points[(index + 1) % count] ?? from }));
}

/** Two edges that cross or touch, other than neighbours at the position that they share; or null. */
export function crossingEdges(edges: readonly Edge[]): readonly [Edge, Edge] | null {
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
export function isInside(point: PlanePoint, ring: readonly PlanePoint[]): boolean {
  let inside = false;
  for (const { from, to } of edgesOf(ring, 0)) {
    if (from.y > point.y === to.y > point.y) continue;
    if (point.x < ((to.x - from.x) * (point.y - from.y)) / (to.y - from.y) + from.x) inside = !inside;
  }
  return inside;
}
