import { LazyTelemetryPing } from '@waypost/contracts';
import {
  DEFAULT_RULE_SETTINGS,
  type GeofenceView,
  type RuleSet,
  type RuleSettings,
  type TelemetryPing,
} from '@waypost/domain';
import type { StreamRecord } from '@waypost/streams';
import type { KnownFleet, KnownFleets } from './fleet-directory.js';

/** What decidePing() needs in addition to the device and the ping's record. */
export interface AppliedRules {
  readonly settings: RuleSettings;
  readonly view: GeofenceView | null;
}

/** The settings and geofences of the fleet of each ping, as of the ping's time (decisions 0028 and 0030). */
export interface FleetRules {
  /** Call before the pings of a batch: picks up newly known fleets. */
  refresh(): void;
  /** The next call overwrites the result. */
  of(record: StreamRecord, ping: TelemetryPing): AppliedRules;
}

const WITHOUT_ROUTES: RuleSettings = Object.freeze({ ...DEFAULT_RULE_SETTINGS, routes: null });
const POSITIONS: AppliedRules = Object.freeze({ settings: WITHOUT_ROUTES, view: null });

/** Routes and stops are only for fleets that want them. */
export function createFleetRules(fleets: KnownFleets, rules: RuleSet): FleetRules {
  if (rules === 'positions') return { refresh: () => undefined, of: () => POSITIONS };
  const finder = new FleetFinder(fleets);
  const view: { fleet: GeofenceView['fleet'] } = { fleet: undefined };
  const applied: { settings: RuleSettings; readonly view: typeof view } = { settings: WITHOUT_ROUTES, view };
  return {
    refresh: () => finder.refresh(),
    of: ({ timestamp }, ping) => {
      const fleet = finder.find(ping);
      view.fleet = fleet?.geofences;
      applied.settings = fleet?.settings?.at(timestamp)?.routes === true ? DEFAULT_RULE_SETTINGS : WITHOUT_ROUTES;
      return applied;
    },
  };
}

/** Must be a power of two. */
const CACHED_FLEETS = 1_024;
/** Longer ids are not cached. */
const ID_BYTES = 64;

/**
 * Caches the fleets of recent pings by the bytes of their ids: decoding an id and looking up the string costs more than
 * most pings need for the rules of their fleet.
 */
export class FleetFinder {
  /** Contiguous, `ID_BYTES` per entry: a comparison reads no other memory. */
  private readonly ids = new Uint8Array(CACHED_FLEETS * ID_BYTES);
  /** 0: an empty entry. */
  private readonly idLengths = new Uint8Array(CACHED_FLEETS);
  private readonly found: (KnownFleet | undefined)[] = Array.from({ length: CACHED_FLEETS });
  private knownCount = 0;

  constructor(private readonly fleets: KnownFleets) {}

  /** An unknown fleet may be known by now. */
  refresh(): void {
    const count = this.fleets.knownCount();
    if (count === this.knownCount) return;
    this.knownCount = count;
    this.idLengths.fill(0);
  }

  /** The fleet of a ping, as of the last refresh() or later. */
  find(ping: TelemetryPing): KnownFleet | undefined {
    if (this.knownCount === 0) return undefined;
    if (!(ping instanceof LazyTelemetryPing)) return this.fleets.fleet(ping.fleetId);
    const { bytes, fleetIdStart: start } = ping;
    const length = ping.fleetIdEnd - start;
    if (length === 0 || length > ID_BYTES) return this.fleets.fleet(ping.fleetId);
    const entry = hashOf(bytes, start, length) & (CACHED_FLEETS - 1);
    if (!this.isAt(entry, bytes, start, length)) this.load(entry, ping);
    return this.found[entry];
  }

  private isAt(entry: number, bytes: Buffer, start: number, length: number): boolean {
    const { ids } = this;
    if (this.idLengths[entry] !== length) return false;
    const first = entry * ID_BYTES;
    for (let at = 0; at < length; at++) if (ids[first + at] !== bytes[start + at]) return false;
    return true;
  }

  private load(entry: number, ping: LazyTelemetryPing): void {
    const { bytes, fleetIdStart, fleetIdEnd } = ping;
    this.ids.set(bytes.subarray(fleetIdStart, fleetIdEnd), entry * ID_BYTES);
    this.idLengths[entry] = fleetIdEnd - fleetIdStart;
    this.found[entry] = this.fleets.fleet(ping.fleetId);
  }
}

/** FNV-1a. */
function hashOf(bytes: Buffer, start: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash ^ (hash >>> 16);
}
