import { bytesOf, type DeliveryMemory } from './delivery-memory.js';
import { type PendingDelivery, SubscriptionBacklog, type WithdrawnDelivery } from './subscription-backlog.js';

/*
 * The offsets of one backlog in `webhook.deliveries`, here a parked one (f: finished, m: in memory, l: in the log only):
 *
 *     f   f   m   f   m   m   l   l   l   l
 *             |           |   |              |
 *      lowest()   takenUpTo   parkedFrom     position, of the reader of the partition
 *
 * The reader leaves deliveries from parkedFrom on to a catch-up pass, which takes in as many as there is room for and
 * moves parkedFrom on. A pass that finds the backlog full leaves its number in stoppedInPass and takes in no more of it.
 * A held backlog keeps one delivery in memory: parkedFrom goes back to the second one, takenUpTo to the last one with
 * attempts, and the unfinished ones in between are in `withdrawn`.
 *
 * A successor reads deliveries from one offset on. To find out which of them are finished, it folds the attempts from
 * another offset on, in `webhook.attempts`: foldFrom. No attempt of these deliveries may lie before it, or a finished one
 * would be sent again. foldFromOf() returns the least of those that apply to a delivery:
 *
 *     up to begun.upTo     a predecessor began it, or a later one of the partition    begun.foldFrom
 *     up to begunUpTo      a predecessor began it, or a later one of the backlog      begunFoldFrom
 *     up to takenUpTo      it will be read again                                      withdrawnFoldFrom
 *     beyond all of them   it has no attempts                                         attemptsEnd
 *
 * While a backlog is held or slow, its state record has the progress of its deliveries in place of the attempts from
 * foldFrom to the time of the record (KnownDeliveries): deliveries may wait for days, and all attempts of these days would
 * be folded otherwise. The progress is complete only once everything that a predecessor began has been read, which for a
 * held backlog is after the hold.
 *
 * The placement of the backlog decides which pair of offsets a successor gets. Attached: the commit point of the
 * partition, which is the least of all attached backlogs. Detached (if it is parked, held or slow): that of its own state
 * record, so begun.foldFrom does not count for it.
 */

export interface CommitPoint {
  /** The lowest unfinished delivery of all attached backlogs; nothing before it is read again. */
  readonly offset: number;
  /** Every attempt of a delivery from `offset` on lies at or after this offset of the attempt log. */
  readonly foldFrom: number;
}

/** A backlog that uses at most this fraction of what its fleet may still take can about double. */
const MUCH_OF_FREE = 1 / 4;

export interface BacklogLimits {
  /** Unfinished deliveries of one subscription in memory. */
  readonly perSubscription: number;
  /** A backlog is slow after its first delivery has been in memory this long: it must not hold back the commit point. */
  readonly slowAfterMs: number;
}

/** The deliveries that predecessors began, according to the attempt log. */
export interface BegunDeliveries {
  /** The highest delivery with an attempt; -1: none. */
  readonly upTo: number;
  readonly foldFrom: number;
}

export interface PartitionBacklogsOptions {
  readonly limits: BacklogLimits;
  readonly memory: DeliveryMemory;
  readonly start: CommitPoint;
  readonly begun: BegunDeliveries;
  readonly attemptsEnd: () => number;
  readonly monotonicMs: () => number;
  readonly isPaused: (subscriptionId: string) => boolean;
}

/**
 * The unfinished deliveries of a partition, by subscription. A backlog takes deliveries in while it has room.
 * Then it is parked: its further deliveries stay in the log and are read again later, so that the reader of the partition
 * never waits for a slow subscription.
 *
 * Deliveries of a backlog finish in any order. The commit point is the lowest unfinished one of all attached backlogs. A
 * parked or slow backlog is detached, with a state record of its own, so that it does not hold the position back.
 */
export class PartitionBacklogs {
  pending = 0;
  /** The position of the partition's reader, after its last batch. */
  position: number;
  readonly parked = new Set<SubscriptionBacklog>();
  private readonly backlogs = new Map<string, SubscriptionBacklog>();
  /** The offset of the last commit point, which never goes back. */
  private committable: number;

  constructor(private readonly options: PartitionBacklogsOptions) {
    this.position = options.start.offset;
    this.committable = options.start.offset;
  }

  all(): Iterable<SubscriptionBacklog> {
    return this.backlogs.values();
  }

  known(subscriptionId: string): SubscriptionBacklog | undefined {
    return this.backlogs.get(subscriptionId);
  }

  backlog(subscriptionId: string): SubscriptionBacklog {
    let backlog = this.backlogs.get(subscriptionId);
    if (!backlog) {
      backlog = new SubscriptionBacklog(subscriptionId);
      backlog.isPaused = this.options.isPaused(subscriptionId);
      this.backlogs.set(subscriptionId, backlog);
    }
    return backlog;
  }

  /** @returns false: the delivery stays in the log */
  offer(backlog: SubscriptionBacklog, offset: number): boolean {
    if (backlog.parkedFrom !== null) return false;
    if (this.hasRoom(backlog)) return true;
    this.park(backlog, offset);
    return false;
  }

  /** A subscription always has room for one delivery, so each makes progress whatever is full. */
  hasRoom(backlog: SubscriptionBacklog): boolean {
    const { unfinished, isHeld, expiring } = backlog;
    if (isHeld && unfinished.size > expiring) return false;
    if (unfinished.size === 0) return true;
    return unfinished.size < this.options.limits.perSubscription && backlog.bytes < this.freeFor(backlog);
  }

  /** Whether there is enough room to be worth a catch-up pass, which reads a lot. */
  hasMuchRoom(backlog: SubscriptionBacklog): boolean {
    const { unfinished, isHeld } = backlog;
    if (isHeld || unfinished.size === 0) return unfinished.size === 0;
    const isHalfEmpty = unfinished.size <= this.options.limits.perSubscription >> 1;
    return isHalfEmpty && backlog.bytes <= this.freeFor(backlog) * MUCH_OF_FREE;
  }

  private freeFor({ fleetId }: SubscriptionBacklog): number {
    return this.options.memory.freeFor(fleetId);
  }

  park(backlog: SubscriptionBacklog, offset: number): void {
    backlog.parkedFrom = offset;
    this.parked.add(backlog);
  }

  caughtUp(backlog: SubscriptionBacklog): void {
    backlog.parkedFrom = null;
    this.parked.delete(backlog);
  }

  /** Call in log order for the deliveries of a backlog. */
  admit(pending: PendingDelivery): void {
    const { backlog, offset } = pending;
    const sinceMs = this.options.monotonicMs();
    backlog.unfinished.set(offset, { pending, foldFrom: this.foldFromOf(backlog, offset), sinceMs });
    this.taken(backlog, offset);
    this.pending++;
    backlog.fleetId = pending.delivery.fleetId;
    backlog.bytes += bytesOf(pending.delivery);
    this.options.memory.add(pending.delivery);
  }

  /** Call for a delivery that a predecessor finished. */
  skip(backlog: SubscriptionBacklog, offset: number): void {
    this.taken(backlog, offset);
    this.over(backlog, offset);
  }

  /** Call for a record that is finished or is not a delivery. */
  over(backlog: SubscriptionBacklog, offset: number): void {
    backlog.finishedUpTo = Math.max(backlog.finishedUpTo, offset);
  }

  private taken(backlog: SubscriptionBacklog, offset: number): void {
    backlog.takenUpTo = Math.max(backlog.takenUpTo, offset);
  }

  /** Rate limits or strict order may keep deliveries in memory for hours. */
  isSlow({ unfinished }: SubscriptionBacklog): boolean {
    for (const { sinceMs } of unfinished.values())
      return this.options.monotonicMs() - sinceMs >= this.options.limits.slowAfterMs;
    return false;
  }

  /**
   * Keeps only the first delivery of a held backlog in memory, for probes. Nothing of it may be in flight: later
   * admissions must come after the delivery that stayed.
   * @returns the deliveries that are now only in the log
   */
  withdrawAllButFirst(backlog: SubscriptionBacklog): PendingDelivery[] {
    // State from an earlier hold is obsolete once everything it left in the log has been read again.
    const earlier = backlog.withdrawn.size > 0 ? backlog.withdrawnFoldFrom : Infinity;
    backlog.withdrawnFoldFrom = Math.min(earlier, this.foldFromOfLowest(backlog));
    const [, ...withdrawn] = [...backlog.unfinished.values()].map(({ pending }) => pending);
    for (const pending of withdrawn) {
      this.leaveMemory(pending);
      this.withdraw(backlog, pending.offset, { progress: pending.progress, due: pending.due });
    }
    this.forgetUnstarted(backlog);
    return withdrawn;
  }

  /** Keeps only the progress of a delivery in memory. */
  withdraw(backlog: SubscriptionBacklog, offset: number, delivery: WithdrawnDelivery): void {
    if (backlog.withdrawn.size === 0) backlog.withdrawnOf = backlog.fleetId;
    backlog.withdrawn.set(offset, delivery);
    this.options.memory.withdrawnChanged(backlog.withdrawnOf, 1);
  }

  /** Call when the record has been read again. @returns undefined for offsets up to `takenUpTo`: it is finished */
  readAgain(backlog: SubscriptionBacklog, offset: number): WithdrawnDelivery | undefined {
    const delivery = backlog.withdrawn.get(offset);
    if (backlog.withdrawn.delete(offset)) this.options.memory.withdrawnChanged(backlog.withdrawnOf, -1);
    return delivery;
  }

  /** Call when retention has deleted what lies before the offset. Progress that nothing reads again would stay forever. */
  deletedBefore(backlog: SubscriptionBacklog, logStart: number): void {
    backlog.parkedFrom = logStart;
    for (const offset of backlog.withdrawn.keys()) if (offset < logStart) this.readAgain(backlog, offset);
  }

  /** Deliveries after the last one with attempts need no state: they are read as if for the first time. */
  private forgetUnstarted(backlog: SubscriptionBacklog): void {
    const { begunUpTo, finishedUpTo, withdrawn } = backlog;
    let triedUpTo = Math.max(begunUpTo, finishedUpTo, backlog.first()?.offset ?? -1);
    for (const [offset, { progress }] of withdrawn)
      if (progress.type !== 'unstarted') triedUpTo = Math.max(triedUpTo, offset);
    if (triedUpTo >= backlog.takenUpTo) return;
    backlog.takenUpTo = triedUpTo;
    for (const offset of withdrawn.keys()) if (offset > triedUpTo) this.readAgain(backlog, offset);
  }

  /** Call once the last attempt is in the log, not before. */
  finish(pending: PendingDelivery): void {
    this.leaveMemory(pending);
    this.over(pending.backlog, pending.offset);
    this.forgetIfDone(pending.backlog);
  }

  /** Releases the memory when the partition leaves this process. */
  close(): void {
    const { memory } = this.options;
    for (const { unfinished, withdrawn, withdrawnOf } of this.backlogs.values()) {
      for (const { pending } of unfinished.values()) memory.remove(pending.delivery);
      memory.withdrawnChanged(withdrawnOf, -withdrawn.size);
    }
  }

  private leaveMemory(pending: PendingDelivery): void {
    if (!pending.backlog.unfinished.delete(pending.offset)) return;
    this.pending--;
    pending.backlog.bytes -= bytesOf(pending.delivery);
    this.options.memory.remove(pending.delivery);
  }

  forgetIfDone(backlog: SubscriptionBacklog): void {
    // Deliveries that a predecessor began stay known until the reader passes them: the backlog may still be parked.
    if (backlog.isForgettable && backlog.begunUpTo < this.position) this.backlogs.delete(backlog.subscriptionId);
  }

  commitPoint(): CommitPoint {
    let offset = Infinity;
    let foldFrom = Infinity;
    for (const backlog of this.backlogs.values()) {
      if (backlog.placement === 'detached') continue;
      const lowest = backlog.lowest();
      if (lowest === null) continue;
      offset = Math.min(offset, lowest);
      foldFrom = Math.min(foldFrom, this.foldFromOfLowest(backlog));
    }
    this.committable = offset === Infinity ? this.position : offset;
    if (offset !== Infinity) return { offset, foldFrom };
    return {
      offset: this.position,
      foldFrom: this.isBegun(this.position) ? this.options.begun.foldFrom : this.attemptsEnd(),
    };
  }

  /** The position from which a successor folds the attempts of a backlog's unfinished deliveries. */
  foldFromOfLowest(backlog: SubscriptionBacklog): number {
    for (const { foldFrom } of backlog.unfinished.values()) return foldFrom;
    return backlog.parkedFrom === null ? this.attemptsEnd() : this.foldFromOf(backlog, backlog.parkedFrom);
  }

  /**
   * Reattaches detached backlogs whose deliveries all lie at or after the commit point. The offset must not move back,
   * since attempts of finished deliveries after it may lie before its `foldFrom`.
   */
  attach(backlogs: Iterable<SubscriptionBacklog>): void {
    let commit: CommitPoint | null = null;
    for (const backlog of backlogs) {
      if (!this.isAttachable(backlog)) continue;
      // Computed once, since it looks at all backlogs.
      const { offset, foldFrom } = (commit ??= this.commitPoint());
      if ((backlog.lowest() ?? this.position) < offset) continue;
      for (const entry of backlog.unfinished.values()) entry.foldFrom = Math.min(entry.foldFrom, foldFrom);
      backlog.placement = 'attached';
      commit = { offset, foldFrom: Math.min(foldFrom, this.foldFromOfLowest(backlog)) };
    }
  }

  /** Whether it may be time to attach this backlog, without a look at the others. */
  isAttachable(backlog: SubscriptionBacklog): boolean {
    if (backlog.placement !== 'detached' || backlog.parkedFrom !== null || backlog.isHeld) return false;
    return (backlog.lowest() ?? this.position) >= this.committable && !this.isSlow(backlog);
  }

  /** A delivery that was begun is folded from the old position; a newly admitted one has no earlier attempts. */
  private foldFromOf(backlog: SubscriptionBacklog, offset: number): number {
    const { begun } = this.options;
    let foldFrom = this.attemptsEnd();
    if (backlog.placement !== 'detached' && this.isBegun(offset)) foldFrom = Math.min(foldFrom, begun.foldFrom);
    if (offset <= backlog.takenUpTo) foldFrom = Math.min(foldFrom, backlog.withdrawnFoldFrom);
    if (offset <= backlog.begunUpTo) foldFrom = Math.min(foldFrom, backlog.begunFoldFrom);
    return foldFrom;
  }

  private isBegun(offset: number): boolean {
    return offset <= this.options.begun.upTo;
  }

  attemptsEnd(): number {
    return this.options.attemptsEnd();
  }
}
