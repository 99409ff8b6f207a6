import { PINGS_KEPT_MS } from '../telemetry/pings-kept.js';
import { EndedVersions } from './ended-versions.js';
import type { Geofence } from './geofence.js';
import type { GeofenceIndex } from './geofence-index.js';
import { GeofenceVersion, isInForce } from './geofence-version.js';
import { VersionsIndex } from './versions-index.js';

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
