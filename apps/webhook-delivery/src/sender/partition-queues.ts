import { SubscriptionQueue, type PendingDelivery } from './subscription-queue.js';

/** Where a successor goes on. */
export interface CommitPoint {
  /** The lowest unfinished delivery but for detached queues; everything before it is never read again. */
  readonly offset: number;
  /** Every attempt of a delivery from `offset` on lies at or after this offset of the attempts log. */
  readonly foldFrom: number;
}

export interface QueueLimits {
  /** Unfinished deliveries in memory, of one subscription. */
  readonly perSubscription: number;
  /** Of the partition. */
  readonly total: number;
  /** What a subscription gets in spite of `total`, so that others cannot shut it out. */
  readonly guaranteed: number;
}

/** What an attempts log says that predecessors had begun. */
export interface BegunDeliveries {
  /** The highest delivery with an attempt, of all queues; -1: none. */
  readonly upTo: number;
  readonly foldFrom: number;
}

export interface PartitionQueuesOptions {
  readonly limits: QueueLimits;
  readonly start: CommitPoint;
  readonly begun: BegunDeliveries;
  /** The position behind the last attempt that is in the log now. */
  readonly attemptsEnd: () => number;
}

/**
 * The unfinished deliveries of a partition, by subscription. A subscription takes in what it has room for;
 * what comes beyond is left in the log: the queue is behind from there on and is read in again later. So the reader of
 * the partition never waits for anybody.
 *
 * Deliveries of a queue finish in any order. The commit point is the lowest unfinished one of all attached queues; a
 * queue that is behind is detached, with a record of its own, so that it does not hold the position back.
 */
export class PartitionQueues {
  pending = 0;
  /** Behind the last batch of the partition's reader. */
  position: number;
  /** Those with something to read in again. */
  readonly behind = new Set<SubscriptionQueue>();
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
    if (!queue) this.queues.set(subscriptionId, (queue = new SubscriptionQueue(subscriptionId)));
    return queue;
  }

  /** Whether the delivery that the partition's reader has come to is to be taken in; else it is left in the log. */
  offer(queue: SubscriptionQueue, offset: number): boolean {
    if (queue.behindFrom !== null) return false;
    if (this.hasRoom(queue)) return true;
    this.leaveFrom(queue, offset);
    return false;
  }

  hasRoom({ unfinished }: SubscriptionQueue): boolean {
    const { perSubscription, total, guaranteed } = this.options.limits;
    return unfinished.size < perSubscription && (this.pending < total || unfinished.size < guaranteed);
  }

  /** Worth a look into the log again: a pass for a handful of deliveries would read much for little. */
  hasMuchRoom({ unfinished }: SubscriptionQueue): boolean {
    const { perSubscription, total, guaranteed } = this.options.limits;
    return unfinished.size <= perSubscription >> 1 && (this.pending < total || unfinished.size <= guaranteed >> 1);
  }

  leaveFrom(queue: SubscriptionQueue, offset: number): void {
    queue.behindFrom = offset;
    this.behind.add(queue);
  }

  caughtUp(queue: SubscriptionQueue): void {
    queue.behindFrom = null;
    this.behind.delete(queue);
  }

  /** Deliveries of a queue come in the order of the log. */
  admit(pending: PendingDelivery): void {
    const { queue, offset } = pending;
    queue.unfinished.set(offset, { pending, foldFrom: this.foldFromOf(queue, offset) });
    this.pending++;
  }

  /** Once the last attempt is in the log, and not before. */
  finish({ queue, offset }: PendingDelivery): void {
    if (queue.unfinished.delete(offset)) this.pending--;
    this.forgetIfDone(queue);
  }

  forgetIfDone(queue: SubscriptionQueue): void {
    // What a predecessor had begun is remembered until the reader is past it: it may still become behind.
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
    return { offset: this.position, foldFrom: this.isBegun(this.position) ? this.options.begun.foldFrom : this.now() };
  }

  /** From where a successor folds the attempts of a queue's unfinished deliveries. */
  foldFromOfLowest(queue: SubscriptionQueue): number {
    for (const { foldFrom } of queue.unfinished.values()) return foldFrom;
    return queue.behindFrom === null ? this.now() : this.foldFromOf(queue, queue.behindFrom);
  }

  /**
   * Lets the position account for a detached queue again, if all that it has lies at or behind the commit point: that
   * must not go back, since attempts of what is finished behind it may lie before its `foldFrom`.
   */
  attach(queue: SubscriptionQueue): boolean {
    if (queue.placement !== 'detached' || queue.behindFrom !== null || queue.isSuspended) return false;
    const { offset, foldFrom } = this.commitPoint();
    if ((queue.lowest() ?? this.position) < offset) return false;
    for (const entry of queue.unfinished.values()) entry.foldFrom = Math.min(entry.foldFrom, foldFrom);
    queue.placement = 'attached';
    return true;
  }

  /** What was begun before is folded from where its beginning was; what is admitted now has no attempts before now. */
  private foldFromOf(queue: SubscriptionQueue, offset: number): number {
    const { begun } = this.options;
    let foldFrom = this.now();
    if (queue.placement !== 'detached' && this.isBegun(offset)) foldFrom = Math.min(foldFrom, begun.foldFrom);
    if (offset <= queue.begunUpTo) foldFrom = Math.min(foldFrom, queue.begunFoldFrom);
    return foldFrom;
  }

  private isBegun(offset: number): boolean {
    return offset <= this.options.begun.upTo;
  }

  private now(): number {
    return this.options.attemptsEnd();
  }
}
