import type { PendingDelivery } from '../backlogs/subscription-backlog.js';
import type { BegunDelivery, QueuedDelivery } from '../scheduling/lane.js';

interface Starter {
  readonly isStopped: boolean;
  mayBegin(): boolean;
  start(pending: PendingDelivery, begun: BegunDelivery): void;
}

/** The next attempt of a delivery in its lane, or its probe. */
export class WaitingAttempt implements QueuedDelivery {
  constructor(
    readonly pending: PendingDelivery,
    private readonly flow: Starter,
  ) {}

  get isVoid(): boolean {
    return this.flow.isStopped;
  }

  /** a probe has its own interval. */
  get isPaced(): boolean {
    return !this.pending.backlog.isSuspended;
  }

  mayBegin(): boolean {
    return this.flow.mayBegin();
  }

  begin(begun: BegunDelivery): void {
    this.flow.start(this.pending, begun);
  }
}
