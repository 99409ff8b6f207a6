import { between, chance, type Random } from '../random.js';
import { distance, type Point } from './geometry.js';

export interface Road {
  readonly from: number;
  readonly to: number;
  /** From end to end, bends included. */
  readonly line: readonly Point[];
  readonly lengthM: number;
  readonly limitKmh: number;
  /** No sky, no fix. */
  readonly tunnel: boolean;
}

export interface Junction {
  readonly at: Point;
  readonly roads: Road[];
  /** Shifts the phases of its traffic light; null: no light. */
  readonly lightOffsetMs: number | null;
}

export interface RoadNetwork {
  readonly junctions: readonly Junction[];
  readonly center: { readonly latitude: number; readonly longitude: number };
  /** Here no network takes a ping. */
  readonly deadZone: { readonly at: Point; readonly radiusM: number };
}

const size = 11;
const blockM = 480;
const arterialEvery = 3;
const center = { latitude: 48.7758, longitude: 9.1829 };
const lightCycleMs = 70_000;
const missingShare = 0.12;
const tunnelShare = 0.06;

/**
 * An invented city: a warped grid of streets with arterials every third block, a few streets missing, some tunnels under
 * the arterials, and a fast ring road around. The same random numbers build the same city.
 */
export function buildRoadNetwork(random: Random): RoadNetwork {
  const warp = { phaseX: between(random, 0, 6), phaseY: between(random, 0, 6) };
  const junctions = gridJunctions(random, warp);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (column + 1 < size) addStreet(junctions, random, [row, column], [row, column + 1]);
      if (row + 1 < size) addStreet(junctions, random, [row, column], [row + 1, column]);
    }
  }
  addRing(junctions, random);
  const corner = (size * blockM) / 2;
  return { junctions, center, deadZone: { at: { x: corner * 0.72, y: -corner * 0.66 }, radiusM: 700 } };
}

type Cell = readonly [row: number, column: number];

function gridJunctions(random: Random, warp: { readonly phaseX: number; readonly phaseY: number }): Junction[] {
  const junctions: Junction[] = [];
  const half = ((size - 1) * blockM) / 2;
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const x = column * blockM - half;
      const y = row * blockM - half;
      const at = {
        x: x + 130 * Math.sin(y / 900 + warp.phaseX) + between(random, -40, 40),
        y: y + 130 * Math.sin(x / 1_100 + warp.phaseY) + between(random, -40, 40),
      };
      const busy = isArterial(row) && isArterial(column);
      const lightOffsetMs = busy || chance(random, 0.15) ? Math.floor(between(random, 0, lightCycleMs)) : null;
      junctions.push({ at, roads: [], lightOffsetMs });
    }
  }
  return junctions;
}

function isArterial(line: number): boolean {
  return line % arterialEvery === 1;
}

/** The border streets always exist, so that no street missing inside can cut a part off. */
function addStreet(junctions: readonly Junction[], random: Random, a: Cell, b: Cell): void {
  const line = a[0] === b[0] ? a[0] : a[1];
  const arterial = isArterial(line);
  const border = line === 0 || line === size - 1;
  const missing = chance(random, missingShare);
  const tunnel = chance(random, tunnelShare);
  const bend = between(random, -45, 45);
  if (missing && !arterial && !border) return;
  connect(junctions, indexOf(a), indexOf(b), { limitKmh: arterial ? 50 : 30, tunnel: tunnel && arterial, bendM: bend });
}

/** Every second border junction leads to the next along a wide curve. */
function addRing(junctions: readonly Junction[], random: Random): void {
  const border = borderCells().filter((_, index) => index % 2 === 0);
  border.forEach((cell, index) => {
    const next = border[(index + 1) % border.length] ?? cell;
    connect(junctions, indexOf(cell), indexOf(next), { limitKmh: 80, tunnel: false, bendM: between(random, 90, 140) });
  });
}

function borderCells(): Cell[] {
  const last = size - 1;
  const steps = Array.from({ length: last }, (_, step) => step);
  return [
    ...steps.map((step): Cell => [0, step]),
    ...steps.map((step): Cell => [step, last]),
    ...steps.map((step): Cell => [last, last - step]),
    ...steps.map((step): Cell => [last - step, 0]),
  ];
}

function indexOf([row, column]: Cell): number {
  return row * size + column;
}

interface RoadKind {
  readonly limitKmh: number;
  readonly tunnel: boolean;
  readonly bendM: number;
}

function connect(junctions: readonly Junction[], a: number, b: number, { bendM, ...kind }: RoadKind): void {
  const start = junctions[a];
  const end = junctions[b];
  if (start === undefined || end === undefined || a === b) return;
  const line = curve(start.at, end.at, bendM);
  const lengthM = lengthOf(line);
  start.roads.push({ from: a, to: b, line, lengthM, ...kind });
  end.roads.push({ from: b, to: a, line: [...line].reverse(), lengthM, ...kind });
}

const curvePieces = 8;

/** A curve between two points that leaves the straight line by `bendM` at most. */
function curve(a: Point, b: Point, bendM: number): Point[] {
  const straight = distance(a, b);
  const across = { x: (b.y - a.y) / straight, y: -(b.x - a.x) / straight };
  return Array.from({ length: curvePieces + 1 }, (_, piece) => {
    const part = piece / curvePieces;
    const off = bendM * Math.sin(Math.PI * part);
    return { x: a.x + (b.x - a.x) * part + across.x * off, y: a.y + (b.y - a.y) * part + across.y * off };
  });
}

function lengthOf(line: readonly Point[]): number {
  return line.reduce((sum, point, index) => sum + distance(line[index - 1] ?? point, point), 0);
}

/** Red for half of the cycle. */
export function isRed({ lightOffsetMs }: Junction, atMs: number): boolean {
  return lightOffsetMs !== null && (atMs + lightOffsetMs) % lightCycleMs < lightCycleMs / 2;
}
