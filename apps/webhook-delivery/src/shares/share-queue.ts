import { Fifo } from '../collections/fifo.js';
import type { TimerPort } from '../process/timers.js';
import type { ReservationCount, Reservations } from './reservations.js';

/** A lane whose next delivery may have to wait for a reservation. */
export interface SharingLane {
  /** These three are the queue's. */
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

/** Lanes beyond their share are looked at again this often, and some of them whenever a reservation is free. */
const CHECK_MS = 50;
/** Each look costs about a microsecond, and thousands of lanes may wait for the same origin. */
const LOOKS_PER_CHECK = 512;
const LOOKS_PER_RESERVATION = 8;
/**
 * A lane keeps what it has been given for this time, however many deliveries end in it: a little less than one to a dead
 * endpoint lasts, so that shares are equal in time and not in deliveries.
 */
const TURN_MS = 45_000;

/**
 * The lanes whose next delivery has no reservation, by fleet in turn, then by subscription: when more subscriptions
 * wait than there are reservations for, each gets one in the end.
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

  /** A reservation of the lane is free: in its turn it is the first to have it, and otherwise the last. */
  freed(lane: SharingLane): void {
    if (this.options.monotonicMs() < lane.turnEndsMs && lane.checkShare()) return;
    for (let looks = 0; looks < LOOKS_PER_RESERVATION && this.lanes > 0; looks++) if (this.look()) return;
    lane.checkShare();
  }

  /** Called when the lane has its reservation, or has not got one after all. */
  settled(lane: SharingLane): void {
    if (lane.offeredIn) lane.offeredIn.offered--;
    lane.offeredIn = null;
  }

  /** @returns whether a lane has left the queue that may begin now */
  private look(): boolean {
    const fleet = this.fleets.shift();
    if (!fleet) return false;
    const lane = this.reservations.fleetHasRoom(fleet, fleet.offered) ? fleet.beyondShare.shift() : undefined;
    // Before the lane can come back.
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
