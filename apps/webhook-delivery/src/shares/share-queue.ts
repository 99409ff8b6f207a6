import { Fifo } from '../collections/fifo.js';
import type { TimerPort } from '../process/timers.js';
import type { ReservationCount, Reservations } from './reservations.js';

/** A lane whose next delivery may have to wait for a reservation. */
export interface SharingLane {
  /** Only the queue sets these three. */
  isInShareQueue: boolean;
  offeredIn: SharingFleet | null;
  /** Monotonic. */
  turnEndsMs: number;
  readonly isReady: boolean;
  readonly isBeyondShare: boolean;
  /** @returns whether a delivery that waited for a reservation has begun, or is about to */
  checkShare(): boolean;
}

export interface SharingFleet extends ReservationCount {
  readonly beyondShare: Fifo<SharingLane>;
  /** How many lanes have left the queue and wait for a slot. */
  offered: number;
}

export interface ShareQueueOptions {
  readonly timers: TimerPort;
  readonly monotonicMs: () => number;
}

/** Lanes beyond their share are checked this often, and some of them whenever a reservation is freed. */
const CHECK_MS = 50;
/** A check costs about a microsecond per lane, and thousands of lanes may wait for the same origin. */
const LOOKS_PER_CHECK = 512;
const LOOKS_PER_RESERVATION = 8;
/**
 * A lane keeps its reservation for this time, however many deliveries end in it, so that shares are equal in time and
 * not in deliveries. It is slightly less than a delivery to a dead endpoint takes.
 */
const TURN_MS = 45_000;

/**
 * Lanes whose next delivery has no reservation, in rotation by fleet, then by subscription. If more
 * subscriptions wait than there are reservations, each gets one eventually.
 */
export class ShareQueue {
  private readonly fleets: Fifo<SharingFleet> = new Fifo();
  private lanes = 0;
  private isTimed = false;

  constructor(
    private readonly reservations: Reservations,
    private readonly options: ShareQueueOptions,
  ) {}

  add(lane: SharingLane, fleet: SharingFleet): void {
    if (lane.isInShareQueue) return;
    lane.isInShareQueue = true;
    fleet.beyondShare.push(lane);
    this.lanes++;
    if (fleet.beyondShare.length === 1) this.fleets.push(fleet);
    this.checkLater();
  }

  /** Call when a reservation of the lane is freed: the lane is the first to get it during its turn, and the last otherwise. */
  freed(lane: SharingLane): void {
    if (this.options.monotonicMs() < lane.turnEndsMs && lane.checkShare()) return;
    for (let looks = 0; looks < LOOKS_PER_RESERVATION && this.lanes > 0; looks++) if (this.look()) return;
    lane.checkShare();
  }

  /** Call when the lane has its reservation, or did not get one after all. */
  settled(lane: SharingLane): void {
    if (lane.offeredIn) lane.offeredIn.offered--;
    lane.offeredIn = null;
  }

  /** @returns whether a lane that may begin now has left the queue */
  private look(): boolean {
    const fleet = this.fleets.shift();
    if (!fleet) return false;
    const lane = this.reservations.fleetHasRoom(fleet, fleet.offered) ? fleet.beyondShare.shift() : undefined;
    // Must precede the check, after which the lane may return.
    if (fleet.beyondShare.length > 0) this.fleets.push(fleet);
    if (!lane) return false;
    lane.isInShareQueue = false;
    this.lanes--;
    return this.offer(lane, fleet);
  }

  private offer(lane: SharingLane, fleet: SharingFleet): boolean {
    lane.offeredIn = fleet;
    fleet.offered++;
    const isTaken = lane.checkShare();
    if (isTaken) lane.turnEndsMs = this.options.monotonicMs() + TURN_MS;
    else if (lane.isBeyondShare) this.add(lane, fleet);
    if (!lane.isReady) this.settled(lane);
    return isTaken;
  }

  private checkLater(): void {
    if (this.isTimed) return;
    this.isTimed = true;
    this.options.timers.after(CHECK_MS, () => {
      this.isTimed = false;
      for (let looks = Math.min(this.lanes, LOOKS_PER_CHECK); looks > 0; looks--) this.look();
      if (this.lanes > 0) this.checkLater();
    });
  }
}
