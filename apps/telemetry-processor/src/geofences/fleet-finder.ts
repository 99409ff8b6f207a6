import { LazyTelemetryPing } from '@waypost/contracts';
import type { FleetGeofences, TelemetryPing } from '@waypost/domain';
import type { GeofenceDirectory } from './geofence-directory.js';

/** A power of two. */
const PLACES = 1_024;

interface KnownFleet {
  /** The fleet's id as the ping had it. */
  readonly id: Buffer;
  readonly fleet: FleetGeofences | undefined;
}

/** The geofences of the fleet of a ping. */
export type FleetFinder = (ping: TelemetryPing) => FleetGeofences | undefined;

/**
 * Knows the fleets of the last pings by the bytes of their ids: making a text of the id, and looking that up, costs more
 * than most pings need for their geofences.
 */
export const createFleetFinder = (directory: Pick<GeofenceDirectory, 'fleet' | 'fleetCount'>): FleetFinder => {
  const places: (KnownFleet | undefined)[] = Array.from({ length: PLACES });
  let fleetCount = directory.fleetCount;

  return (ping) => {
    if (directory.fleetCount === 0) return undefined;
    if (!(ping instanceof LazyTelemetryPing)) return directory.fleet(ping.fleetId);
    if (directory.fleetCount !== fleetCount) {
      // One that had none may have some now.
      places.fill(undefined);
      ({ fleetCount } = directory);
    }
    const { bytes, fleetIdStart, fleetIdEnd } = ping;
    const place = hashOf(bytes, fleetIdStart, fleetIdEnd) & (PLACES - 1);
    const known = places[place];
    if (known && isSame(known.id, bytes, fleetIdStart, fleetIdEnd)) return known.fleet;
    const fleet = directory.fleet(ping.fleetId);
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
