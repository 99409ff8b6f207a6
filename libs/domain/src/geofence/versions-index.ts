import { type BoxList, boxListOf, within } from './geo-box.js';
import { createGeofenceIndex, type GeofenceIndex } from './geofence-index.js';
import { type GeofenceVersion, isInForce } from './geofence-version.js';

/** Fewer in small fleets, where packing costs little. */
const MAX_CHANGES = 64;
/** To look at a version by itself takes some 5 ns, to pack one half a microsecond. */
const LOOKS_PER_VERSION = 100;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

/** What was packed at once, and serves until it is packed anew. */
interface Packed {
  /** In force then. */
  readonly current: GeofenceIndex;
  /** Over by then. */
  readonly over: readonly GeofenceVersion[];
  /** Of these; null: nobody has asked yet. Only a replay or a late batch does. */
  past: GeofenceIndex | null;
  /** The newest change in it, epoch milliseconds: a ping of that time or later sees nothing that was over. */
  readonly changedAt: number;
  readonly maxChanges: number;
  readonly maxLooks: number;
}

/**
 * Where the versions of one fleet are. Packing thousands takes milliseconds, so a change does not pack: versions that came
 * since are looked at one by one, and those that ended are taken out of what is found, until they are many, or looking
 * has cost what packing costs.
 */
export class VersionsIndex {
  private packed: Packed | null = null;
  /** Since it was packed. */
  private arrived: GeofenceVersion[] = [];
  /** Of these; null: to be made by the next look-up. */
  private arrivedBoxes: BoxList | null = null;
  private changes = 0;
  /**
   * What was packed, as long as nothing has changed since: all that a ping of `settledFrom` or later sees. Kept here as well:
   * each pointer on the way costs a look into memory.
   */
  private settled: GeofenceIndex | null = null;
  private settledFrom = -Infinity;
  private looks = 0;
  private changedAt = -Infinity;

  /**
   * @param versions all that are to be found
   * @param createIndex as createGeofenceIndex does
   */
  constructor(
    private readonly versions: () => readonly GeofenceVersion[],
    private readonly createIndex: (versions: readonly GeofenceVersion[]) => GeofenceIndex = createGeofenceIndex,
  ) {}

  /**
   * A version has come, or ended, or the one has taken the place of the other.
   *
   * @param appendedAt epoch milliseconds
   * @param arrived null: none has come
   */
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

  /** Every version that is in force at that time and holds the place is among them, and none that is not in force. */
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

/** Most places are in none, and then nothing is made. */
function inForce(versions: readonly GeofenceVersion[], at: number): readonly GeofenceVersion[] {
  return versions.length === 0 ? NOTHING : versions.filter((version) => isInForce(version, at));
}

function both(some: readonly GeofenceVersion[], others: readonly GeofenceVersion[]): readonly GeofenceVersion[] {
  if (others.length === 0) return some;
  return some.length === 0 ? others : [...some, ...others];
}
