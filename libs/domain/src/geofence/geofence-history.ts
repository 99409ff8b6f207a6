import { VERSION_RETENTION_MS } from '../history/retention.js';
import type { Geofence } from '../records/geofence.js';
import type { GeofenceIndex } from './geofence-index.js';
import { parseGeofenceKey } from './geofence-key.js';
import { GeofenceVersion, isInForce } from './geofence-version.js';
import { VersionsIndex } from './versions-index.js';

/** The geofences of all fleets, from the records of `fleet.geofences` in log order. */
export interface GeofenceHistory {
  record(key: string, geofence: Geofence | null, appendedAt: number): void;
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

/** A ping sees the newest version appended at or before the ping itself, even in a replay (decision 0028). */
export class FleetGeofences {
  private readonly histories = new Map<string, GeofenceVersion[]>();
  private readonly ended = new EndedVersions();
  private readonly index: VersionsIndex;
  private changedAt = -Infinity;

  constructor(createIndex?: (versions: readonly GeofenceVersion[]) => GeofenceIndex) {
    this.index = new VersionsIndex(() => [...this.histories.values()].flat(), createIndex);
  }

  get versionCount(): number {
    let count = 0;
    for (const history of this.histories.values()) count += history.length;
    return count;
  }

  put(geofence: Geofence, appendedAt: number): void {
    const before = this.newest(geofence.geofenceId);
    // A version that is published again after a crash counts from its first time.
    if (before && geofence.version <= before.version) return;
    const since = Math.min(before?.since ?? firstSeen(geofence, appendedAt), appendedAt);
    const version = new GeofenceVersion(geofence, since, appendedAt);
    const history = this.histories.get(geofence.geofenceId) ?? [];
    this.end(history, appendedAt);
    history.push(version);
    this.histories.set(geofence.geofenceId, history);
    this.changed(appendedAt, version);
  }

  remove(geofenceId: string, appendedAt: number): void {
    if (!this.newest(geofenceId)) return;
    this.end(this.histories.get(geofenceId) ?? [], appendedAt);
    this.changed(appendedAt, null);
  }

  get(geofenceId: string, at: number): GeofenceVersion | undefined {
    const history = this.histories.get(geofenceId);
    if (history === undefined) return undefined;
    const newest = history[history.length - 1];
    if (newest !== undefined && isInForce(newest, at)) return newest;
    return history.findLast((version) => isInForce(version, at));
  }

  /** Contains every version that a ping at that time sees and that contains the place. */
  near(latitude: number, longitude: number, at: number): readonly GeofenceVersion[] {
    return this.index.near(latitude, longitude, at);
  }

  private newest(geofenceId: string): GeofenceVersion | undefined {
    const newest = this.histories.get(geofenceId)?.at(-1);
    return newest?.to === Infinity ? newest : undefined;
  }

  /** Also ends versions that end later by a broker's clock that was ahead: no two versions are in force at a time. */
  private end(history: readonly GeofenceVersion[], appendedAt: number): void {
    for (let index = history.length - 1; index >= 0; index--) {
      const version = history[index];
      if (version === undefined || version.to <= appendedAt) return;
      if (version.to === Infinity) this.ended.push(version);
      version.to = appendedAt;
    }
  }

  private changed(appendedAt: number, arrived: GeofenceVersion | null): void {
    this.changedAt = Math.max(this.changedAt, appendedAt);
    this.index.changed(appendedAt, arrived);
    this.forget(this.changedAt - VERSION_RETENTION_MS);
  }

  private forget(before: number): void {
    for (let gone = this.ended.shift(before); gone !== undefined; gone = this.ended.shift(before)) {
      const { geofenceId } = gone;
      const kept = this.histories.get(geofenceId)?.filter((version) => version !== gone) ?? [];
      if (kept.length > 0) this.histories.set(geofenceId, kept);
      else this.histories.delete(geofenceId);
    }
  }
}

/** Earlier versions may be compacted away, so a geofence is at least as old as its `createdAt`. */
function firstSeen({ version, createdAt }: Geofence, appendedAt: number): number {
  return version === 1 ? appendedAt : Math.min(createdAt, appendedAt);
}

const MIN_TO_CLEAR = 1_024;

/** Sorted in log order. */
class EndedVersions {
  private versions: GeofenceVersion[] = [];
  private head = 0;

  push(version: GeofenceVersion): void {
    this.versions.push(version);
  }

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
