import type { Road, RoadNetwork } from './road-network.js';

/** The fastest way between two junctions; empty when they are the same or not connected. */
export function fastestRoute({ junctions }: RoadNetwork, from: number, to: number): Road[] {
  const secondsTo = new Map<number, number>([[from, 0]]);
  const arrivedBy = new Map<number, Road>();
  const open = new Set<number>([from]);
  while (open.size > 0) {
    const here = nearest(open, secondsTo);
    if (here === to) break;
    open.delete(here);
    for (const road of junctions[here]?.roads ?? []) {
      const seconds = (secondsTo.get(here) ?? 0) + road.lengthM / (road.limitKmh / 3.6);
      if (seconds >= (secondsTo.get(road.to) ?? Infinity)) continue;
      secondsTo.set(road.to, seconds);
      arrivedBy.set(road.to, road);
      open.add(road.to);
    }
  }
  return backFrom(to, arrivedBy, from);
}

function nearest(open: ReadonlySet<number>, secondsTo: ReadonlyMap<number, number>): number {
  let best = -1;
  let bestSeconds = Infinity;
  for (const junction of open) {
    const seconds = secondsTo.get(junction) ?? Infinity;
    if (seconds >= bestSeconds) continue;
    best = junction;
    bestSeconds = seconds;
  }
  return best;
}

function backFrom(to: number, arrivedBy: ReadonlyMap<number, Road>, from: number): Road[] {
  const route: Road[] = [];
  for (let here = to; here !== from;) {
    const road = arrivedBy.get(here);
    if (road === undefined) return [];
    route.unshift(road);
    here = road.from;
  }
  return route;
}
