import { VERSION_RETENTION_MS } from '../history/retention.js';
import type { FleetSettings } from '../records/fleet-settings.js';

interface SettingsVersion {
  readonly settings: FleetSettings | null;
  readonly from: number;
}

/** Add versions in log order. As with geofences, a ping sees the newest version appended at or before it (decision 0028). */
export class FleetSettingsVersions {
  private readonly versions: SettingsVersion[] = [];
  private newest: FleetSettings | null = null;
  private newestFrom = Infinity;
  private changedAt = -Infinity;

  put(settings: FleetSettings | null, appendedAt: number): void {
    const before = this.versions.at(-1)?.settings ?? null;
    if (before !== null && settings !== null && isRepeated(settings, before)) return;
    this.versions.push({ settings, from: appendedAt });
    this.newest = settings;
    this.newestFrom = appendedAt;
    this.changedAt = Math.max(this.changedAt, appendedAt);
    this.forget(this.changedAt - VERSION_RETENTION_MS);
  }

  at(appendedAt: number): FleetSettings | null {
    if (this.newestFrom <= appendedAt) return this.newest;
    return this.versions.findLast(({ from }) => from <= appendedAt)?.settings ?? null;
  }

  get versionCount(): number {
    return this.versions.length;
  }

  private forget(before: number): void {
    const first = this.versions.findLastIndex(({ from }) => from <= before);
    if (first > 0) this.versions.splice(0, first);
  }
}

/** A repetition after a crash counts from its first time. A fleet recreated after the loss of its database begins at version 1. */
function isRepeated(settings: FleetSettings, before: FleetSettings): boolean {
  return settings.createdAt === before.createdAt && settings.version <= before.version;
}

export interface FleetSettingsHistory {
  record(fleetId: string, settings: FleetSettings | null, appendedAt: number): void;
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
