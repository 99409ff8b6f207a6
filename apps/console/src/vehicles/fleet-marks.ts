import type { DevicePath } from '@waypost/client';
import type { Part } from '../shared/first-of.js';
import { type VehicleMark, vehicleMarksOf } from './vehicle-mark.js';

export const WITHIN_MS = 15 * 60_000;
/** A part of the points is read first by vehicle: the shorter the window, the more vehicles are in it. */
const SHORTER_MS = [60_000, 15_000] as const;
/** Everything is read again this often, for vehicles that report late; between that, what the last minute has brought. */
const READ_ALL_EVERY_MS = 60_000;

/** Where the vehicles of a fleet are, as far as is known. */
export interface FleetMarks {
  readonly marks: readonly VehicleMark[];
  /** The fleet may have others, which no part that was read has. */
  readonly hasMore: boolean;
  /** When all of the window was asked for. */
  readonly readAllAtMs: number;
  /** That there was more in it than was read. */
  readonly hadMore: boolean;
}

/** @param read the first points from a time on, by vehicle */
export async function readFleetMarks(
  known: FleetMarks | undefined,
  nowMs: number,
  read: (startMs: number) => Promise<Part<DevicePath>>,
): Promise<FleetMarks> {
  const isAllDue = known === undefined || nowMs - known.readAllAtMs >= READ_ALL_EVERY_MS;
  const marks = new Map(known?.marks.map((mark) => [mark.label, mark]));
  let { readAllAtMs, hadMore } = known ?? { readAllAtMs: nowMs, hadMore: false };
  let hasMore = false;
  for (const windowMs of isAllDue ? [WITHIN_MS, ...SHORTER_MS] : SHORTER_MS) {
    const part = await read((windowMs === WITHIN_MS ? nowMs : recentMs(marks, nowMs)) - windowMs);
    for (const mark of vehicleMarksOf(part)) keepNewer(marks, mark);
    ({ hasMore } = part);
    if (windowMs === WITHIN_MS) [readAllAtMs, hadMore] = [nowMs, hasMore];
    if (!hasMore) break;
  }
  const recent = [...marks.values()].filter(({ time }) => Date.parse(time) >= nowMs - WITHIN_MS);
  return { marks: recent.sort(byLabel), hasMore: hasMore || hadMore, readAllAtMs, hadMore };
}

/** Where the short windows end. They would miss every vehicle if the reader's clock were ahead by more than they are long. */
function recentMs(marks: ReadonlyMap<string, VehicleMark>, nowMs: number): number {
  const newestMs = Math.max(...[...marks.values()].map(({ time }) => Date.parse(time)));
  return Number.isFinite(newestMs) && nowMs - newestMs > SHORTER_MS[0] ? newestMs : nowMs;
}

function keepNewer(marks: Map<string, VehicleMark>, mark: VehicleMark): void {
  const known = marks.get(mark.label);
  if (known === undefined || Date.parse(known.time) <= Date.parse(mark.time)) marks.set(mark.label, mark);
}

function byLabel(one: VehicleMark, other: VehicleMark): number {
  return one.label < other.label ? -1 : 1;
}
