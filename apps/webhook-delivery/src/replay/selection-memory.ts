import { freeForFleet } from '../shares/fleet-share.js';

/** Counted from the beginning: many may begin at the same time. */
const FIRST_BYTES = 64 * 1_024;

/** One replay's part of the memory for selections. */
export interface HeldSelection {
  /** False while the selection has to wait for others to end. Memory already held stays held. */
  mayGrow(): boolean;
  /** Records that the selection now holds this many bytes. */
  grewTo(bytes: number): void;
  /** Marks the selection complete at its final size. */
  isWhole(bytes: number): void;
  /** Pauses growth; memory already held stays held. */
  waits(): void;
  /** Releases all memory. Later calls have no effect. */
  release(): void;
}

/**
 * The memory of the selections of all replays of the process: a selection is held until its replay is over, and a slow
 * replay may take days. As with the memory of deliveries, a fleet's share is a fraction of what is free. The
 * oldest growing selection of a fleet may exceed the share until one is complete, which prevents a deadlock.
 */
export class SelectionMemory {
  private usedBytes = 0;
  private readonly byFleet = new Map<string, number>();
  /** Growing selections by fleet, oldest first. */
  private readonly growing = new Map<string, Set<HeldSelection>>();
  /** The number of complete selections by fleet. */
  private readonly whole = new Map<string, number>();

  constructor(
    private readonly limitBytes: number,
    private readonly firstBytes = FIRST_BYTES,
  ) {}

  get heldBytes(): number {
    return this.usedBytes;
  }

  hold(fleetId: string): HeldSelection {
    let grown = 0;
    let counted = 0;
    let isReleased = false;
    let isWhole = false;
    const count = (bytes: number): void => {
      if (isReleased) return;
      this.change(fleetId, bytes - counted);
      counted = bytes;
    };
    const holder: HeldSelection = {
      mayGrow: () => {
        if (counted === 0) return this.usedBytes === 0 || this.freeFor(fleetId) >= this.firstBytes;
        return grown < counted || this.freeFor(fleetId) > 0 || this.isFirst(fleetId, holder);
      },
      grewTo: (bytes) => {
        grown = bytes;
        count(Math.max(bytes, this.firstBytes));
        if (!isReleased) this.grows(fleetId, holder);
      },
      isWhole: (bytes) => {
        count(bytes);
        if (!isReleased && !isWhole) this.countWhole(fleetId, 1);
        isWhole = true;
        this.growsNoMore(fleetId, holder);
      },
      waits: () => {
        this.growsNoMore(fleetId, holder);
      },
      release: () => {
        count(0);
        if (!isReleased && isWhole) this.countWhole(fleetId, -1);
        isReleased = true;
        this.growsNoMore(fleetId, holder);
      },
    };
    return holder;
  }

  private isFirst(fleetId: string, holder: HeldSelection): boolean {
    if (this.whole.has(fleetId)) return false;
    const [first] = this.growing.get(fleetId) ?? [];
    return first === holder;
  }

  private grows(fleetId: string, holder: HeldSelection): void {
    const ofFleet = this.growing.get(fleetId) ?? new Set();
    this.growing.set(fleetId, ofFleet.add(holder));
  }

  private growsNoMore(fleetId: string, holder: HeldSelection): void {
    const ofFleet = this.growing.get(fleetId);
    ofFleet?.delete(holder);
    if (ofFleet?.size === 0) this.growing.delete(fleetId);
  }

  private countWhole(fleetId: string, change: 1 | -1): void {
    const count = (this.whole.get(fleetId) ?? 0) + change;
    if (count > 0) this.whole.set(fleetId, count);
    else this.whole.delete(fleetId);
  }

  private freeFor(fleetId: string): number {
    return freeForFleet(this.limitBytes, this.usedBytes, this.byFleet.get(fleetId) ?? 0);
  }

  private change(fleetId: string, bytes: number): void {
    this.usedBytes += bytes;
    const ofFleet = (this.byFleet.get(fleetId) ?? 0) + bytes;
    if (ofFleet > 0) this.byFleet.set(fleetId, ofFleet);
    else this.byFleet.delete(fleetId);
  }
}
