import { LazyTelemetryPing } from '@waypost/contracts';
import type { TelemetryPing } from '@waypost/domain';
import type { KnownFleet, KnownFleets } from './fleet-directory.js';

/** A power of two. */
const PLACES = 1_024;
/** A longer id has no place, and is looked up as a text. */
const ID_BYTES = 64;

/**
 * Knows the fleets of the last pings by the bytes of their ids: making a text of the id, and looking that up, costs more
 * than most pings need for the rules of their fleet.
 */
export class FleetFinder {
  /** The ids side by side, `ID_BYTES` for each place: a look at one reads no other memory. */
  private readonly ids = new Uint8Array(PLACES * ID_BYTES);
  /** 0: nobody is there. */
  private readonly idLengths = new Uint8Array(PLACES);
  private readonly found: (KnownFleet | undefined)[] = Array.from({ length: PLACES });
  private knownCount = 0;

  constructor(private readonly fleets: KnownFleets) {}

  /** Before the pings of a batch: what nothing was known of may be known by now. */
  refresh(): void {
    const count = this.fleets.knownCount();
    if (count === this.knownCount) return;
    this.knownCount = count;
    this.idLengths.fill(0);
  }

  /** What is known of the fleet of a ping, as of the last refresh() or later. */
  find(ping: TelemetryPing): KnownFleet | undefined {
    if (this.knownCount === 0) return undefined;
    if (!(ping instanceof LazyTelemetryPing)) return this.fleets.fleet(ping.fleetId);
    const { bytes, fleetIdStart: start } = ping;
    const length = ping.fleetIdEnd - start;
    if (length === 0 || length > ID_BYTES) return this.fleets.fleet(ping.fleetId);
    const place = hashOf(bytes, start, length) & (PLACES - 1);
    if (!this.isAt(place, bytes, start, length)) this.settle(place, ping);
    return this.found[place];
  }

  private isAt(place: number, bytes: Buffer, start: number, length: number): boolean {
    const { ids } = this;
    if (this.idLengths[place] !== length) return false;
    const first = place * ID_BYTES;
    for (let at = 0; at < length; at++) if (ids[first + at] !== bytes[start + at]) return false;
    return true;
  }

  private settle(place: number, ping: LazyTelemetryPing): void {
    const { bytes, fleetIdStart, fleetIdEnd } = ping;
    this.ids.set(bytes.subarray(fleetIdStart, fleetIdEnd), place * ID_BYTES);
    this.idLengths[place] = fleetIdEnd - fleetIdStart;
    this.found[place] = this.fleets.fleet(ping.fleetId);
  }
}

/** FNV-1a. */
const hashOf = (bytes: Buffer, start: number, length: number): number => {
  let hash = 0x811c9dc5;
  for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 16);
};
