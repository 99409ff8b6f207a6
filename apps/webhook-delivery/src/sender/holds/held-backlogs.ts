import type { DeliveryMetrics } from '../../metrics/delivery-metrics.js';
import type { SubscriptionDirectory } from '../../subscriptions/subscription-directory.js';
import type { AttemptFlow } from '../attempts/attempt-flow.js';
import type { CatchUp } from '../backlogs/catch-up.js';
import type { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import type { StateRecords } from '../recovery/state-records.js';

export interface HeldBacklogsOptions {
  readonly backlogs: PartitionBacklogs;
  readonly flow: Pick<AttemptFlow, 'hold' | 'release' | 'expire' | 'withdraw'>;
  readonly states: Pick<StateRecords, 'watch'>;
  readonly catchUp: Pick<CatchUp, 'leaveOut' | 'kick'>;
  readonly directory: Pick<SubscriptionDirectory, 'isPaused'>;
  readonly metrics: Pick<DeliveryMetrics, 'pendingChanged' | 'parkedChanged'>;
}

/**
 * The subscriptions of a partition that currently get no deliveries: paused by their owner, or suspended.
 * One delivery of each stays in memory, for probes; the others wait in the log, in order.
 *
 * A pause takes effect in three places: `SubscriptionDirectory.isPaused` reports it, this class keeps waiting
 * deliveries from beginning, and `AttemptRunner` withdraws an attempt whose request has not been written. public-api
 * confirms a pause only once it is published.
 */
export class HeldBacklogs {
  /** Held backlogs that may have more than one delivery in memory. */
  private readonly loaded = new Set<SubscriptionBacklog>();

  constructor(private readonly options: HeldBacklogsOptions) {}

  hold(backlog: SubscriptionBacklog): void {
    this.options.flow.hold(backlog);
    this.loaded.add(backlog);
  }

  subscriptionChanged(backlog: SubscriptionBacklog): void {
    const { flow, states, catchUp, directory } = this.options;
    const isPaused = directory.isPaused(backlog.subscriptionId);
    if (backlog.isPaused === isPaused) return;
    backlog.isPaused = isPaused;
    states.watch(backlog);
    if (isPaused) this.hold(backlog);
    else if (!backlog.isSuspended) {
      flow.release(backlog);
      catchUp.kick();
    }
  }

  /** Call periodically. */
  expire(): void {
    for (const backlog of this.options.backlogs.all()) if (backlog.isHeld) this.options.flow.expire(backlog);
  }

  /** Leaves the deliveries of held backlogs to the log. Call periodically: attempts in flight must end first. */
  unload(): void {
    for (const backlog of this.loaded) {
      if (backlog.isHeld && backlog.inFlight > 0) continue;
      this.loaded.delete(backlog);
      if (!backlog.isHeld) continue;
      // A probe that waits for its reservation is held again, so it may leave memory.
      this.options.flow.hold(backlog);
      this.unloadBacklog(backlog);
    }
  }

  private unloadBacklog(backlog: SubscriptionBacklog): void {
    const { backlogs, flow, states, catchUp, metrics } = this.options;
    const withdrawn = backlogs.withdrawAllButFirst(backlog);
    const [first] = withdrawn;
    if (!first) return;
    for (const pending of withdrawn) flow.withdraw(pending);
    metrics.pendingChanged(-withdrawn.length);
    if (backlog.parkedFrom === null) metrics.parkedChanged(1);
    // A pass that has read beyond this point must no longer serve the backlog.
    catchUp.leaveOut(backlog);
    backlogs.park(backlog, first.offset);
    states.watch(backlog);
  }
}
