import { joinIds, splitIds } from '../event/event-id.js';
import { PINGS_KEPT_MS } from '../history/retention.js';
import type { Geofence } from '../records/geofence.js';
import type { GeofenceIndex } from './geofence-index.js';
import { GeofenceVersion, isInForce } from './geofence-version.js';
import { VersionsIndex } from './versions-index.js';

/** The geofences of all fleets, as the records of `fleet.geofences` tell them. */
export interface GeofenceHistory {
  /**
   * The next record of the topic.
   *
   * @param geofence null: it is deleted
   * @param appendedAt broker time, epoch milliseconds
   */
  record(key: string, geofence: Geofence | null, appendedAt: number): void;
  /** undefined: the fleet never had one. */
  fleet(fleetId: string): FleetGeofences | undefined;
  readonly fleetCount: number;
  readonly versionCount: number;
}

export function createGeofenceHistory(): GeofenceHistory {
  const fleets = new Map<string, FleetGeofences>();
  const put = (geofence: Geofence, appendedAt: number): void => {
    let fleet = fleets.get(geofence.fleetId);
    if (fleet === undefined) fleets.set(geofence.fleetId, (fleet = new FleetGeofences()));
    fleet.put(geofence, appendedAt);
  };
  return {
    record(key, geofence, appendedAt) {
      if (geofence) {
        put(geofence, appendedAt);
        return;
      }
      const { fleetId, geofenceId } = parseGeofenceKey(key);
      fleets.get(fleetId)?.remove(geofenceId, appendedAt);
    },
    fleet: (fleetId) => fleets.get(fleetId),
    get fleetCount() {
      return fleets.size;
    },
    get versionCount() {
      return [...fleets.values()].reduce((sum, fleet) => sum + fleet.versionCount, 0);
    },
  };
}

/**
 * The geofences of one fleet, each with its versions. A ping sees of each the newest whose record was appended at or
 * before the ping's own, so it sees the same whenever it is looked at (decision 0028). To be fed in the order of the log.
 */
export class FleetGeofences {
  /** By geofenceId, oldest first. */
  private readonly histories = new Map<string, GeofenceVersion[]>();
  private readonly ended = new EndedVersions();
  private readonly index: VersionsIndex;
  private changedAt = -Infinity;

  /** @param createIndex as createGeofenceIndex does */
  constructor(createIndex?: (versions: readonly GeofenceVersion[]) => GeofenceIndex) {
    this.index = new VersionsIndex(() => [...this.histories.values()].flat(), createIndex);
  }

  /** Versions, those that are no longer in force included. */
  get versionCount(): number {
    let count = 0;
    for (const history of this.histories.values()) count += history.length;
    return count;
  }

  /** @param appendedAt broker time of the record, epoch milliseconds */
  put(geofence: Geofence, appendedAt: number): void {
    const before = this.newest(geofence.geofenceId);
    // A version may be published again after a crash; it counts from its first time.
    if (before && geofence.version <= before.version) return;
    const since = before?.since ?? firstSeen(geofence, appendedAt);
    this.end(before, appendedAt);
    const version = new GeofenceVersion(geofence, since, appendedAt);
    const history = this.histories.get(geofence.geofenceId);
    if (history) history.push(version);
    else this.histories.set(geofence.geofenceId, [version]);
    this.changed(appendedAt, version);
  }

  remove(geofenceId: string, appendedAt: number): void {
    const before = this.newest(geofenceId);
    if (!before) return;
    this.end(before, appendedAt);
    this.changed(appendedAt, null);
  }

  /** The version that a ping of that time sees, if any. */
  get(geofenceId: string, at: number): GeofenceVersion | undefined {
    const history = this.histories.get(geofenceId);
    if (history === undefined) return undefined;
    const newest = history[history.length - 1];
    if (newest !== undefined && isInForce(newest, at)) return newest;
    return history.findLast((version) => isInForce(version, at));
  }

  /** Every version that a ping of that time sees and that holds the place is among them. */
  near(latitude: number, longitude: number, at: number): readonly GeofenceVersion[] {
    return this.index.near(latitude, longitude, at);
  }

  private newest(geofenceId: string): GeofenceVersion | undefined {
    const newest = this.histories.get(geofenceId)?.at(-1);
    return newest?.to === Infinity ? newest : undefined;
  }

  private end(version: GeofenceVersion | undefined, appendedAt: number): void {
    if (version === undefined) return;
    version.to = appendedAt;
    this.ended.push(version);
  }

  private changed(appendedAt: number, arrived: GeofenceVersion | null): void {
    this.changedAt = Math.max(this.changedAt, appendedAt);
    this.index.changed(appendedAt, arrived);
    this.forget(this.changedAt - PINGS_KEPT_MS);
  }

  /** The index may find them until it is packed anew, which no ping that is kept can see. */
  private forget(before: number): void {
    for (let gone = this.ended.shift(before); gone !== undefined; gone = this.ended.shift(before)) {
      const { geofenceId } = gone;
      const kept = this.histories.get(geofenceId)?.filter((version) => version !== gone) ?? [];
      if (kept.length > 0) this.histories.set(geofenceId, kept);
      else this.histories.delete(geofenceId);
    }
  }
}

/** The records of its earlier versions may be compacted away: then it is at least as old as it says itself. */
function firstSeen({ version, createdAt }: Geofence, appendedAt: number): number {
  return version === 1 ? appendedAt : Math.min(createdAt, appendedAt);
}

const MIN_TO_CLEAR = 1_024;

/** The versions that are over, in the order in which they ended, so that those to be forgotten are found at its head. */
export class EndedVersions {
  private versions: GeofenceVersion[] = [];
  private head = 0;

  push(version: GeofenceVersion): void {
    this.versions.push(version);
  }

  /** Takes out the oldest one if it ended at or before that time. One behind it that ended earlier still waits for it. */
  shift(before: number): GeofenceVersion | undefined {
    const oldest = this.versions[this.head];
    if (oldest === undefined || oldest.to > before) return undefined;
    this.head++;
    if (this.head >= MIN_TO_CLEAR && this.head * 2 >= this.versions.length) {
      this.versions = this.versions.slice(this.head);
      this.head = 0;
    }
    return oldest;
  }
}

/** The key of its records in `fleet.geofences`; a tombstone under it deletes the geofence. */
export function geofenceKey({ fleetId, geofenceId }: Pick<Geofence, 'fleetId' | 'geofenceId'>): string {
  return joinIds(fleetId, geofenceId);
}

/** Of which fleet and geofence a key speaks: for tombstones, which say nothing else. */
export function parseGeofenceKey(key: string): Pick<Geofence, 'fleetId' | 'geofenceId'> {
  const [fleetId = '', geofenceId = ''] = splitIds(key);
  return { fleetId, geofenceId };
}
