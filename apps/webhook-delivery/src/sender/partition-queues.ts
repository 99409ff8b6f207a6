import type { DeliveryMemory } from './delivery-memory.js';
import { type PendingDelivery, SubscriptionQueue } from './subscription-queue.js';

/** Where a successor resumes. */
export interface CommitPoint {
  /** The lowest unfinished delivery of all attached queues; nothing before it is read again. */
  readonly offset: number;
  /** Every attempt of a delivery from `offset` on lies at or after this offset of the attempt log. */
  readonly foldFrom: number;
}

export interface QueueLimits {
  /** Unfinished deliveries of one subscription in memory. */
  readonly perSubscription: number;
  /** Unfinished deliveries of the partition in memory. */
  readonly total: number;
  /** A subscription may have this many even when the partition or the process is full, so that others cannot starve it. */
  readonly guaranteed: number;
}

/** The deliveries that predecessors had begun, by the attempt log. */
export interface BegunDeliveries {
  /** The highest delivery with an attempt; -1: none. */
  readonly upTo: number;
  readonly foldFrom: number;
}

export interface PartitionQueuesOptions {
  readonly limits: QueueLimits;
  readonly memory: DeliveryMemory;
  readonly start: CommitPoint;
  readonly begun: BegunDeliveries;
  /** The current position after the last attempt in the log. */
  readonly attemptsEnd: () => number;
  /** Whether the owner of a subscription has paused it. */
  readonly isPaused: (subscriptionId: string) => boolean;
}

/**
 * The unfinished deliveries of a partition, by subscription. A queue takes deliveries in while it has room.
 * Then it is parked: its further deliveries stay in the log and are read again later, so that the reader of the partition
 * never waits for a slow subscription.
 *
 * Deliveries of a queue finish in any order. The commit point is the lowest unfinished one of all attached queues. A
 * parked queue is detached, with a state record of its own, so that it does not hold the position back.
 */
export class PartitionQueues {
  pending = 0;
  /** The position of the partition's reader, after its last batch. */
  position: number;
  /** The queues with deliveries to read again. */
  readonly parked = new Set<SubscriptionQueue>();
  private readonly queues = new Map<string, SubscriptionQueue>();

  constructor(private readonly options: PartitionQueuesOptions) {
    this.position = options.start.offset;
  }

  all(): Iterable<SubscriptionQueue> {
    return this.queues.values();
  }

  known(subscriptionId: string): SubscriptionQueue | undefined {
    return this.queues.get(subscriptionId);
  }

  queue(subscriptionId: string): SubscriptionQueue {
    let queue = this.queues.get(subscriptionId);
    if (!queue) {
      queue = new SubscriptionQueue(subscriptionId);
      queue.isPaused = this.options.isPaused(subscriptionId);
      this.queues.set(subscriptionId, queue);
    }
    return queue;
  }

  /** Whether the reader's next delivery is taken in; otherwise it stays in the log. */
  offer(queue: SubscriptionQueue, offset: number): boolean {
    if (queue.parkedFrom !== null) return false;
    if (this.hasRoom(queue)) return true;
    this.park(queue, offset);
    return false;
  }

  hasRoom({ unfinished, isHeld, expiring }: SubscriptionQueue): boolean {
    if (isHeld && unfinished.size > expiring) return false;
    const { perSubscription, guaranteed } = this.options.limits;
    return unfinished.size < perSubscription && (!this.isFull || unfinished.size < guaranteed);
  }

  /** Room enough to be worth a catch-up pass, which reads a lot. */
  hasMuchRoom({ unfinished, isHeld }: SubscriptionQueue): boolean {
    if (isHeld) return unfinished.size === 0;
    const { perSubscription, guaranteed } = this.options.limits;
    return unfinished.size <= perSubscription >> 1 && (!this.isFull || unfinished.size <= guaranteed >> 1);
  }

  private get isFull(): boolean {
    return this.pending >= this.options.limits.total || this.options.memory.isFull;
  }

  park(queue: SubscriptionQueue, offset: number): void {
    queue.parkedFrom = offset;
    this.parked.add(queue);
  }

  caughtUp(queue: SubscriptionQueue): void {
    queue.parkedFrom = null;
    this.parked.delete(queue);
  }

  /** Deliveries of a queue must be admitted in the order of the log. */
  admit(pending: PendingDelivery): void {
    const { queue, offset } = pending;
    queue.unfinished.set(offset, { pending, foldFrom: this.foldFromOf(queue, offset) });
    queue.takenUpTo = Math.max(queue.takenUpTo, offset);
    this.pending++;
    this.options.memory.add(pending);
  }

  /**
   * A held queue keeps only its first delivery in memory, for probes. Nothing of it may be in flight: what is
   * admitted again must come after what stayed.
   * @returns the deliveries that are in the log only from now on
   */
  withdrawAllButFirst(queue: SubscriptionQueue): PendingDelivery[] {
    queue.withdrawnFoldFrom = Math.min(queue.withdrawnFoldFrom, this.foldFromOfLowest(queue));
    const [, ...withdrawn] = [...queue.unfinished.values()].map(({ pending }) => pending);
    for (const pending of withdrawn) {
      this.leaveMemory(pending);
      queue.withdrawn.set(pending.offset, { progress: pending.progress, due: pending.due });
    }
    return withdrawn;
  }

  /** Call it once the last attempt is in the log, not before. */
  finish(pending: PendingDelivery): void {
    this.leaveMemory(pending);
    this.forgetIfDone(pending.queue);
  }

  /** The task has ended, and the partition has left this process. */
  close(): void {
    for (const queue of this.queues.values())
      for (const { pending } of queue.unfinished.values()) this.options.memory.remove(pending);
  }

  private leaveMemory(pending: PendingDelivery): void {
    if (!pending.queue.unfinished.delete(pending.offset)) return;
    this.pending--;
    this.options.memory.remove(pending);
  }

  forgetIfDone(queue: SubscriptionQueue): void {
    // What a predecessor had begun is kept until the reader has passed it: the queue may still be parked.
    if (queue.isForgettable && queue.begunUpTo < this.position) this.queues.delete(queue.subscriptionId);
  }

  commitPoint(): CommitPoint {
    let offset = Infinity;
    let foldFrom = Infinity;
    for (const queue of this.queues.values()) {
      if (queue.placement === 'detached') continue;
      const lowest = queue.lowest();
      if (lowest === null) continue;
      offset = Math.min(offset, lowest);
      foldFrom = Math.min(foldFrom, this.foldFromOfLowest(queue));
    }
    if (offset !== Infinity) return { offset, foldFrom };
    return {
      offset: this.position,
      foldFrom: this.isBegun(this.position) ? this.options.begun.foldFrom : this.attemptsEnd(),
    };
  }

  /** The position from which a successor folds the attempts of a queue's unfinished deliveries. */
  foldFromOfLowest(queue: SubscriptionQueue): number {
    for (const { foldFrom } of queue.unfinished.values()) return foldFrom;
    return queue.parkedFrom === null ? this.attemptsEnd() : this.foldFromOf(queue, queue.parkedFrom);
  }

  /**
   * Attaches a detached queue again if all its deliveries lie at or after the commit point. The commit point must not move
   * back, since attempts of finished deliveries after it may lie before its `foldFrom`.
   */
  attach(queue: SubscriptionQueue): boolean {
    if (queue.placement !== 'detached' || queue.parkedFrom !== null || queue.isHeld) return false;
    const { offset, foldFrom } = this.commitPoint();
    if ((queue.lowest() ?? this.position) < offset) return false;
    for (const entry of queue.unfinished.values()) entry.foldFrom = Math.min(entry.foldFrom, foldFrom);
    queue.placement = 'attached';
    return true;
  }

  /** A delivery that was begun is folded from the old position; one that is admitted now has no earlier attempts. */
  private foldFromOf(queue: SubscriptionQueue, offset: number): number {
    const { begun } = this.options;
    let foldFrom = this.attemptsEnd();
    if (queue.placement !== 'detached' && this.isBegun(offset)) foldFrom = Math.min(foldFrom, begun.foldFrom);
    if (offset <= queue.takenUpTo) foldFrom = Math.min(foldFrom, queue.withdrawnFoldFrom);
    if (offset <= queue.begunUpTo) foldFrom = Math.min(foldFrom, queue.begunFoldFrom);
    return foldFrom;
  }

  private isBegun(offset: number): boolean {
    return offset <= this.options.begun.upTo;
  }

  private attemptsEnd(): number {
    return this.options.attemptsEnd();
  }
}
