import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { AttemptFlow } from './attempt-flow.js';
import type { CatchUp } from './catch-up.js';
import type { PartitionQueues } from './partition-queues.js';
import type { StateRecords } from './state-records.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface HeldQueuesOptions {
  readonly queues: PartitionQueues;
  readonly flow: AttemptFlow;
  readonly states: StateRecords;
  readonly catchUp: CatchUp;
  readonly directory: Pick<SubscriptionDirectory, 'isPaused'>;
  readonly metrics: Pick<DeliveryMetrics, 'pendingChanged' | 'parkedChanged'>;
}

/**
 * The subscriptions of a partition that get nothing at present: paused by their owner, or suspended. One
 * delivery of each stays in memory, for probes; the others wait in the log, in order.
 *
 * A pause takes effect in three places: `SubscriptionDirectory.isPaused` says of it, this class keeps what waits from
 * beginning, and `AttemptRunner` withdraws an attempt whose request has not been written. public-api confirms a pause only
 * once it is published.
 */
export class HeldQueues {
  /** Held queues that may have more than one delivery in memory. */
  private readonly loaded = new Set<SubscriptionQueue>();

  constructor(private readonly options: HeldQueuesOptions) {}

  hold(queue: SubscriptionQueue): void {
    this.options.flow.hold(queue);
    this.loaded.add(queue);
  }

  subscriptionChanged(queue: SubscriptionQueue): void {
    const { flow, states, catchUp, directory } = this.options;
    const isPaused = directory.isPaused(queue.subscriptionId);
    if (queue.isPaused === isPaused) return;
    queue.isPaused = isPaused;
    states.watch(queue);
    if (isPaused) this.hold(queue);
    else if (!queue.isSuspended) {
      flow.release(queue);
      catchUp.kick();
    }
  }

  /** Called from time to time. */
  expire(): void {
    for (const queue of this.options.queues.all()) if (queue.isHeld) this.options.flow.expire(queue);
  }

  /** Leaves the deliveries of held queues to the log. Called from time to time: attempts in flight must end first. */
  unload(): void {
    for (const queue of this.loaded) {
      if (queue.isHeld && queue.inFlight > 0) continue;
      this.loaded.delete(queue);
      if (queue.isHeld) this.unloadQueue(queue);
    }
  }

  private unloadQueue(queue: SubscriptionQueue): void {
    const { queues, flow, states, catchUp, metrics } = this.options;
    const withdrawn = queues.withdrawAllButFirst(queue);
    const [first] = withdrawn;
    if (!first) return;
    for (const pending of withdrawn) flow.withdraw(pending);
    metrics.pendingChanged(-withdrawn.length);
    if (queue.parkedFrom === null) metrics.parkedChanged(1);
    // A pass that has read beyond this point must not serve the queue any more.
    catchUp.leaveOut(queue);
    queues.park(queue, first.offset);
    states.watch(queue);
  }
}
