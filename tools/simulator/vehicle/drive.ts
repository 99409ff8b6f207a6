import { headingOf, type Point, turnBetween } from '../city/geometry.js';
import { isRed, type Road, type RoadNetwork } from '../city/road-network.js';
import { fastestRoute } from '../city/route-planner.js';
import { between, chance, type Random, wholeBetween } from '../random.js';

/** The state of a vehicle, each second. */
export interface DriveState {
  readonly at: Point;
  readonly headingDeg: number;
  readonly speedMs: number;
  readonly engineOn: boolean;
  /** True in a tunnel or a garage. */
  readonly covered: boolean;
  readonly movedM: number;
}

export interface Driver {
  /** Advances by one second. */
  step(nowMs: number): DriveState;
}

/** A standstill: a delivery with the engine running, or parking with the key off. */
interface Stop {
  readonly untilMs: number;
  readonly engineOn: boolean;
  readonly garage: boolean;
}

interface Trip {
  readonly route: readonly Road[];
  index: number;
  alongM: number;
}

const minuteMs = 60_000;
const accelerationMs2 = 1.6;
const brakingMs2 = 1.9;
const hardestBrakingMs2 = 4;
const stopLineM = 2;
const parkedShare = 0.45;
const garageShare = 0.2;
const startsParkedShare = 0.3;

/**
 * One driver in the city: drives from place to place, keeps to limits and red lights, slows down for corners, stops for
 * deliveries, and parks with the key off.
 */
export function createDriver(network: RoadNetwork, random: Random, startMs: number): Driver {
  const pace = between(random, 0.85, 1.08);
  let junction = startJunction(network, random);
  let headingDeg = between(random, 0, 360);
  let speedMs = 0;
  let trip: Trip | null = null;
  let stop: Stop = firstStop(random, startMs);

  function stand(): DriveState {
    const at = network.junctions[junction]?.at ?? { x: 0, y: 0 };
    return { at, headingDeg, speedMs: 0, engineOn: stop.engineOn, covered: stop.garage, movedM: 0 };
  }

  function depart(nowMs: number): void {
    const route = fastestRoute(network, junction, wholeBetween(random, 0, network.junctions.length - 1));
    if (route.length > 0) trip = { route, index: 0, alongM: 0 };
    else stop = { ...stop, untilMs: nowMs + minuteMs };
  }

  function arrive(road: Road, nowMs: number): void {
    junction = road.to;
    trip = null;
    speedMs = 0;
    stop = nextStop(random, nowMs);
  }

  function drive(current: Trip, road: Road, nowMs: number): DriveState {
    const ahead = endOfRoad(network, current, road, headingAt(road, road.lengthM), nowMs);
    const limit = Math.min((road.limitKmh / 3.6) * pace, speedAllowed(road.lengthM - current.alongM, ahead.speedMs));
    speedMs = Math.max(0, Math.min(speedMs + accelerationMs2, Math.max(limit, speedMs - hardestBrakingMs2)));
    const before = current.alongM;
    const furthest = ahead.mustStop ? Math.max(before, road.lengthM - stopLineM) : Infinity;
    current.alongM = Math.min(before + speedMs, furthest);
    if (current.alongM === before) speedMs = 0;
    const movedM = current.alongM - before;
    const shown = Math.min(current.alongM, road.lengthM);
    headingDeg = headingAt(road, shown);
    const state = { at: pointAt(road, shown), headingDeg, speedMs, engineOn: true, covered: road.tunnel, movedM };
    if (current.alongM >= road.lengthM) {
      current.alongM -= road.lengthM;
      current.index += 1;
      if (current.index >= current.route.length) arrive(road, nowMs);
    } else if (ahead.isDestination && road.lengthM - current.alongM < 2 * stopLineM) arrive(road, nowMs);
    return state;
  }

  return {
    step(nowMs) {
      if (trip === null && nowMs >= stop.untilMs) depart(nowMs);
      const road = trip?.route[trip.index];
      return trip === null || road === undefined ? stand() : drive(trip, road, nowMs);
    },
  };
}

/** How fast one may be `remainingM` before a point that must be passed at `endSpeedMs`. */
function speedAllowed(remainingM: number, endSpeedMs: number): number {
  return Math.sqrt(endSpeedMs ** 2 + 2 * brakingMs2 * Math.max(0, remainingM - stopLineM));
}

function endOfRoad(network: RoadNetwork, trip: Trip, road: Road, headingDeg: number, nowMs: number) {
  const next = trip.route[trip.index + 1];
  if (next === undefined) return { speedMs: 1.5, mustStop: false, isDestination: true };
  const junction = network.junctions[road.to];
  if (junction !== undefined && isRed(junction, nowMs)) return { speedMs: 0, mustStop: true, isDestination: false };
  const speedMs = cornerSpeedMs(turnBetween(headingDeg, headingAt(next, 0)));
  return { speedMs, mustStop: false, isDestination: false };
}

function cornerSpeedMs(turnDeg: number): number {
  if (turnDeg > 100) return 3;
  if (turnDeg > 45) return 5.5;
  return turnDeg > 20 ? 10 : Infinity;
}

function startJunction(network: RoadNetwork, random: Random): number {
  for (;;) {
    const junction = wholeBetween(random, 0, network.junctions.length - 1);
    if ((network.junctions[junction]?.roads.length ?? 0) > 0) return junction;
  }
}

/** A fleet in the middle of its day: some are parked, the others leave within seconds of each other. */
function firstStop(random: Random, startMs: number): Stop {
  const parked = chance(random, startsParkedShare);
  const waitMs = parked ? between(random, 1, 20) * minuteMs : between(random, 0, 20_000);
  return { untilMs: startMs + waitMs, engineOn: !parked, garage: false };
}

function nextStop(random: Random, nowMs: number): Stop {
  const parked = chance(random, parkedShare);
  const minutes = parked ? between(random, 4, 30) : between(random, 0.7, 4);
  return { untilMs: nowMs + minutes * minuteMs, engineOn: !parked, garage: parked && chance(random, garageShare) };
}

function pointAt({ line, lengthM }: Road, alongM: number): Point {
  const { a, b, part } = pieceAt(line, lengthM, alongM);
  return { x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part };
}

function headingAt({ line, lengthM }: Road, alongM: number): number {
  const { a, b } = pieceAt(line, lengthM, alongM);
  return headingOf(a, b);
}

/** The pieces of a road's line are of nearly equal length. */
function pieceAt(line: readonly Point[], lengthM: number, alongM: number): { a: Point; b: Point; part: number } {
  const pieces = line.length - 1;
  const place = Math.min(Math.max((alongM / lengthM) * pieces, 0), pieces - 1e-9);
  const index = Math.floor(place);
  const a = line[index] ?? { x: 0, y: 0 };
  return { a, b: line[index + 1] ?? a, part: place - index };
}
