import type { EntityManager } from 'typeorm';
import { DAY_MS, type Geofence } from '@waypost/domain';
import { WrittenPositionsEntity } from '../entities.js';
import { type FleetLimits, type LimitReached, limitReached } from './fleet-limits.js';

/** What a version takes in the memory of telemetry-processor besides its positions of 18 bytes each, in positions. */
export const POSITIONS_PER_VERSION = 30;

/** A version of a geofence; without one: that of its deletion, or of the settings of a fleet. */
export function positionsOf({ polygon }: Pick<Geofence, 'polygon'> = { polygon: null }): number {
  return (polygon?.rings ?? []).reduce((sum, ring) => sum + ring.length, POSITIONS_PER_VERSION);
}

/**
 * Counts what a fleet writes in a day (UTC) into tables of which telemetry-processor keeps every version for as long as the
 * log (decision 0028), unless that would be too much. The caller holds the lock on the fleet.
 */
export async function countWritten(
  manager: EntityManager,
  { fleetId, positions, nowMs }: { readonly fleetId: string; readonly positions: number; readonly nowMs: number },
  limits: FleetLimits,
): Promise<LimitReached | null> {
  const counted = await manager.findOneByOrFail(WrittenPositionsEntity, { fleetId });
  const today = Math.floor(nowMs / DAY_MS);
  // Not back to the day before by a clock that is behind: each turn would begin a new count. A later day is of one far ahead.
  const day = counted.day === today + 1 ? counted.day : today;
  const current = day === counted.day ? counted.positions : 0;
  const reached = limitReached(limits, 'writtenPositions', current, positions);
  if (reached !== null) return reached;
  await manager.update(WrittenPositionsEntity, { fleetId }, { day, positions: current + positions });
  return null;
}
