import { LazyTelemetryPing } from '@waypost/contracts';
import type { TelemetryPing } from '@waypost/domain';
import type { KnownFleet, KnownFleets } from './fleet-directory.js';

/** A power of two. */
const PLACES = 1_024;

interface FoundFleet {
  /** The fleet's id as the ping had it. */
  readonly id: Buffer;
  readonly fleet: KnownFleet | undefined;
}

/** What is known of the fleet of a ping. */
export type FleetFinder = (ping: TelemetryPing) => KnownFleet | undefined;

/**
 * Knows the fleets of the last pings by the bytes of their ids: making a text of the id, and looking that up, costs more
 * than most pings need for the rules of their fleet.
 */
export const createFleetFinder = (fleets: KnownFleets): FleetFinder => {
  const places: (FoundFleet | undefined)[] = Array.from({ length: PLACES });
  let knownCount = fleets.knownCount();

  return (ping) => {
    const count = fleets.knownCount();
    if (count === 0) return undefined;
    if (!(ping instanceof LazyTelemetryPing)) return fleets.fleet(ping.fleetId);
    if (count !== knownCount) {
      // One that had none may have some now.
      places.fill(undefined);
      knownCount = count;
    }
    const { bytes, fleetIdStart, fleetIdEnd } = ping;
    const place = hashOf(bytes, fleetIdStart, fleetIdEnd) & (PLACES - 1);
    const found = places[place];
    if (found && isSame(found.id, bytes, fleetIdStart, fleetIdEnd)) return found.fleet;
    const fleet = fleets.fleet(ping.fleetId);
    places[place] = { id: Buffer.from(bytes.subarray(fleetIdStart, fleetIdEnd)), fleet };
    return fleet;
  };
};

/** FNV-1a. */
const hashOf = (bytes: Buffer, start: number, end: number): number => {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 16);
};

const isSame = (id: Buffer, bytes: Buffer, start: number, end: number): boolean => {
  if (id.length !== end - start) return false;
  for (let at = 0; at < id.length; at++) if (id[at] !== bytes[start + at]) return false;
  return true;
};
