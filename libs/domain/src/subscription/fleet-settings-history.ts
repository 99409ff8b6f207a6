import { PINGS_KEPT_MS } from '../history/retention.js';
import type { FleetSettings } from '../records/fleet-settings.js';

interface SettingsVersion {
  /** null: the fleet is deleted. */
  readonly settings: FleetSettings | null;
  /** When its record was appended, epoch milliseconds. */
  readonly from: number;
}

/**
 * The settings of one fleet with their versions. A ping sees the newest whose record was appended at or before its own,
 * as it does of geofences (decision 0028), so it sees the same whenever it is looked at. To be fed in the order of the log.
 */
export class FleetSettingsVersions {
  /** Oldest first. */
  private readonly versions: SettingsVersion[] = [];
  /** Of the newest version: what nearly every ping sees, without a look at the others. */
  private newest: FleetSettings | null = null;
  private newestFrom = Infinity;
  private changedAt = -Infinity;

  /**
   * @param settings null: the fleet is deleted
   * @param appendedAt broker time of the record, epoch milliseconds
   */
  put(settings: FleetSettings | null, appendedAt: number): void {
    const before = this.versions.at(-1)?.settings ?? null;
    if (before !== null && settings !== null && isRepeated(settings, before)) return;
    this.versions.push({ settings, from: appendedAt });
    this.newest = settings;
    this.newestFrom = appendedAt;
    this.changedAt = Math.max(this.changedAt, appendedAt);
    this.forget(this.changedAt - PINGS_KEPT_MS);
  }

  /** What a ping of that time sees; null: nothing was set yet. */
  at(appendedAt: number): FleetSettings | null {
    if (this.newestFrom <= appendedAt) return this.newest;
    return this.versions.findLast(({ from }) => from <= appendedAt)?.settings ?? null;
  }

  get versionCount(): number {
    return this.versions.length;
  }

  /** A version goes when every ping that is kept sees one of those after it. */
  private forget(before: number): void {
    const first = this.versions.findLastIndex(({ from }) => from <= before);
    if (first > 0) this.versions.splice(0, first);
  }
}

/**
 * A version may be published again after a crash; it counts from its first time. A fleet that was made once more, after its
 * database was lost, begins at version 1 again.
 */
const isRepeated = (settings: FleetSettings, before: FleetSettings): boolean =>
  settings.createdAt === before.createdAt && settings.version <= before.version;

/** The settings of all fleets, as the records of `fleet.settings` tell them. */
export interface FleetSettingsHistory {
  /**
   * The next record of the topic.
   *
   * @param fleetId its key
   * @param settings null: the fleet is deleted
   * @param appendedAt broker time, epoch milliseconds
   */
  record(fleetId: string, settings: FleetSettings | null, appendedAt: number): void;
  /** undefined: nothing was ever set for the fleet. */
  fleet(fleetId: string): FleetSettingsVersions | undefined;
  readonly fleetCount: number;
}

export function createFleetSettingsHistory(): FleetSettingsHistory {
  const fleets = new Map<string, FleetSettingsVersions>();
  return {
    record(fleetId, settings, appendedAt) {
      let fleet = fleets.get(fleetId);
      if (fleet === undefined) fleets.set(fleetId, (fleet = new FleetSettingsVersions()));
      fleet.put(settings, appendedAt);
    },
    fleet: (fleetId) => fleets.get(fleetId),
    get fleetCount() {
      return fleets.size;
    },
  };
}
