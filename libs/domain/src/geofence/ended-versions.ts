import type { GeofenceVersion } from './geofence-version.js';

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
