import { LazyTelemetryPing } from '@waypost/contracts';
import { fleetHash, type DeviceState, type FleetGeofences, type TelemetryPing } from '@waypost/domain';
import type { GeofenceDirectory } from './geofence-directory.js';

/** A power of two. */
const PLACES = 1_024;

interface KnownFleet {
  /** The fleet's id as the ping had it. */
  readonly id: Buffer;
  readonly fleet: FleetGeofences | undefined;
}

/**
 * The geofences of the fleet of a ping; undefined: there are none, or none that matters to a device that is in none.
 *
 * @param state of the device before the ping
 */
export type FleetFinder = (ping: TelemetryPing, state: DeviceState | null) => FleetGeofences | undefined;

/**
 * Knows the fleets of the last pings by the bytes of their ids: making a text of the id, and looking that up, costs more
 * than most pings need for their geofences.
 */
export const createFleetFinder = (
  directory: Pick<GeofenceDirectory, 'fleet' | 'mayHold' | 'fleetCount'>,
): FleetFinder => {
  const places: (KnownFleet | undefined)[] = Array.from({ length: PLACES });
  let fleetCount = directory.fleetCount;

  return (ping, state) => {
    if (directory.fleetCount === 0) return undefined;
    if (!(ping instanceof LazyTelemetryPing)) return directory.fleet(ping.fleetId);
    const { bytes, fleetIdStart, fleetIdEnd, latitude, longitude } = ping;
    const hash = fleetHash(bytes, fleetIdStart, fleetIdEnd);
    if (!isInAny(state) && !directory.mayHold(hash, latitude ?? 0, longitude ?? 0)) return undefined;
    if (directory.fleetCount !== fleetCount) {
      // One that had none may have some now.
      places.fill(undefined);
      ({ fleetCount } = directory);
    }
    const place = hash & (PLACES - 1);
    const known = places[place];
    if (known && isSame(known.id, bytes, fleetIdStart, fleetIdEnd)) return known.fleet;
    const fleet = directory.fleet(ping.fleetId);
    places[place] = { id: Buffer.from(bytes.subarray(fleetIdStart, fleetIdEnd)), fleet };
    return fleet;
  };
};

const isInAny = (state: DeviceState | null): boolean =>
  state !== null && state.geofences !== null && state.geofences.visits.length > 0;

const isSame = (id: Buffer, bytes: Buffer, start: number, end: number): boolean => {
  if (id.length !== end - start) return false;
  for (let at = 0; at < id.length; at++) if (id[at] !== bytes[start + at]) return false;
  return true;
};
