import { type BoxList, boxListOf, within } from './box-list.js';
import { createGeofenceIndex, type GeofenceIndex } from './geofence-index.js';
import { type GeofenceVersion, isInForce } from './geofence-version.js';

const MAX_CHANGES = 64;
/** Comparing one version costs some 5 ns, packing it half a microsecond. */
const LOOKS_PER_VERSION = 100;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

interface Packed {
  readonly current: GeofenceIndex;
  readonly over: readonly GeofenceVersion[];
  /** Built on demand: only a replay or a late batch needs it. */
  past: GeofenceIndex | null;
  readonly changedAt: number;
  readonly maxChanges: number;
  readonly maxLooks: number;
}

/**
 * Packing thousands takes milliseconds. So newer versions are compared one by one, and ended ones filtered out, until
 * there are many or comparing has cost as much as packing.
 */
export class VersionsIndex {
  private packed: Packed | null = null;
  private arrived: GeofenceVersion[] = [];
  private arrivedBoxes: BoxList | null = null;
  private changes = 0;
  private settled: GeofenceIndex | null = null;
  private settledFrom = -Infinity;
  private looks = 0;
  private changedAt = -Infinity;

  constructor(
    private readonly versions: () => readonly GeofenceVersion[],
    private readonly createIndex: (versions: readonly GeofenceVersion[]) => GeofenceIndex = createGeofenceIndex,
  ) {}

  changed(appendedAt: number, arrived: GeofenceVersion | null): void {
    this.changedAt = Math.max(this.changedAt, appendedAt);
    this.settled = null;
    if (this.packed === null) return;
    this.changes++;
    if (arrived !== null) {
      this.arrived.push(arrived);
      this.arrivedBoxes = null;
    }
    if (this.changes > this.packed.maxChanges) this.packed = null;
  }

  near(latitude: number, longitude: number, at: number): readonly GeofenceVersion[] {
    const { settled } = this;
    if (settled !== null && at >= this.settledFrom) return settled.near(latitude, longitude);
    const packed = this.packed ?? this.pack();
    const found = packed.current.near(latitude, longitude);
    if (this.changes === 0 && at >= packed.changedAt) return found;
    return this.pastChanges(packed, found, latitude, longitude, at);
  }

  private pastChanges(
    packed: Packed,
    current: readonly GeofenceVersion[],
    latitude: number,
    longitude: number,
    at: number,
  ): readonly GeofenceVersion[] {
    this.arrivedBoxes ??= boxListOf(this.arrived);
    let found = both(inForce(current, at), inForce(within(this.arrivedBoxes, latitude, longitude), at));
    if (at < packed.changedAt) {
      packed.past ??= this.createIndex(packed.over);
      found = both(found, inForce(packed.past.near(latitude, longitude), at));
    }
    if (this.changes > 0) this.looks += 1 + this.arrived.length;
    if (this.looks > packed.maxLooks) this.packed = null;
    return found;
  }

  private pack(): Packed {
    const current: GeofenceVersion[] = [];
    const over: GeofenceVersion[] = [];
    for (const version of this.versions()) (version.to === Infinity ? current : over).push(version);
    const count = current.length + over.length;
    this.arrived = [];
    this.arrivedBoxes = null;
    this.changes = 0;
    this.looks = 0;
    this.packed = {
      current: this.createIndex(current),
      over,
      past: null,
      changedAt: this.changedAt,
      maxChanges: Math.min(MAX_CHANGES, Math.sqrt(count)),
      maxLooks: LOOKS_PER_VERSION * count,
    };
    this.settled = this.packed.current;
    this.settledFrom = this.changedAt;
    return this.packed;
  }
}

function inForce(versions: readonly GeofenceVersion[], at: number): readonly GeofenceVersion[] {
  return versions.length === 0 ? NOTHING : versions.filter((version) => isInForce(version, at));
}

function both(some: readonly GeofenceVersion[], others: readonly GeofenceVersion[]): readonly GeofenceVersion[] {
  if (others.length === 0) return some;
  return some.length === 0 ? others : [...some, ...others];
}
