import { type DeliveryProgress, type EndpointHealth, HEALTHY, type WebhookDelivery } from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import type { BegunDelivery } from '../scheduling/lane.js';

/** A delivery in memory that is not finished. */
export interface PendingDelivery {
  readonly backlog: SubscriptionBacklog;
  readonly offset: number;
  /** When the broker appended its record, by its own clock. */
  readonly appendedAt: number;
  readonly delivery: WebhookDelivery;
  /** The trace context of its record as it came; null: none. */
  readonly traceparent: string | null;
  /** Passed on beside it. */
  readonly tracestate: string | null;
  progress: DeliveryProgress;
  due: Moment;
  isHeld: boolean;
  /** Its reservation; null: it has not begun, or is held. */
  begun: BegunDelivery | null;
}

/** What is kept in memory of an unfinished delivery whose record is read again. */
export type WithdrawnDelivery = Pick<PendingDelivery, 'progress' | 'due'>;

export interface UnfinishedEntry {
  readonly pending: PendingDelivery;
  /** No attempt of it lies before this position of the attempt log. */
  foldFrom: number;
  /** Since when it is in memory, on the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * What tells a successor where a backlog resumes:
 * - attached: the committed position of the partition;
 * - detaching: still that position, while its state record is being written;
 * - detached: its state record, so that the backlog does not hold the position back.
 */
export type Placement = 'attached' | 'detaching' | 'detached';

/** The unfinished deliveries of one subscription in this partition. Owned by PartitionBacklogs. */
export class SubscriptionBacklog {
  /** By offset, ascending. */
  readonly unfinished = new Map<number, UnfinishedEntry>();
  bytes = 0;
  /** Of the last one that was admitted. */
  fleetId = '';
  /** Parked: deliveries from this offset on are in the log only. null: not parked. */
  parkedFrom: number | null = null;
  placement: Placement = 'attached';
  health: EndpointHealth = HEALTHY;
  /** `health.failingSince` by the monotonic clock, from which the length of an outage is measured. */
  failingSinceMs = Infinity;
  /** `updatedAt` of its subscription at the last attempt that counted; null: none here, its health may be a predecessor's. */
  judgedUnder: number | null = null;
  /** The highest delivery that a predecessor had begun, -1: none. Its attempts lie at or after `begunFoldFrom`. */
  begunUpTo = -1;
  begunFoldFrom = 0;
  /** StateRecords refers to it: a second object for the subscription would overwrite its record. */
  isRemembered = false;
  /** When it was last released from a hold; null: it was never held here. */
  releasedAt: Moment | null = null;
  isProbing = false;
  /** Nothing is sent at present, by its owner's decision or because the subscription cannot be read (SubscriptionDirectory, R-16). */
  isPaused = false;
  inFlight = 0;
  /** Deliveries of which only the record that they expired is not written yet. */
  expiring = 0;
  /** Up to here each was in memory or finished, here or at a predecessor whose record knows it; -1: none. */
  takenUpTo = -1;
  /** None beyond it is finished, or was found to be no delivery; -1: none at all. */
  finishedUpTo = -1;
  /** What is in the log again: the progress of unfinished deliveries up to `takenUpTo`; the others there are finished. */
  readonly withdrawn = new Map<number, WithdrawnDelivery>();
  /** The fleet in whose memory these are. */
  withdrawnOf = '';
  /** No attempt of a delivery up to `takenUpTo` that is read again lies before this position of the attempt log. */
  withdrawnFoldFrom = Infinity;
  /** The catch-up pass that stopped because the backlog was full. */
  stoppedInPass = -1;

  constructor(readonly subscriptionId: string) {}

  get isSuspended(): boolean {
    return this.health.suspendedAt !== null;
  }

  /** Nothing is sent but probes. */
  get isHeld(): boolean {
    return this.isPaused || this.isSuspended;
  }

  /** What came due while it was held is due at its end: it is not late. */
  dueAfterHold(due: Moment): Moment {
    const { releasedAt } = this;
    return releasedAt !== null && due.monotonicMs < releasedAt.monotonicMs ? releasedAt : due;
  }

  /** The lowest unfinished delivery, in memory or parked; null: none. */
  lowest(): number | null {
    for (const offset of this.unfinished.keys()) return offset;
    return this.parkedFrom;
  }

  /** The first unfinished delivery in memory; null: none. */
  first(): PendingDelivery | null {
    for (const { pending } of this.unfinished.values()) return pending;
    return null;
  }

  /** The oldest held delivery. */
  nextProbe(): PendingDelivery | undefined {
    for (const { pending } of this.unfinished.values()) if (pending.isHeld) return pending;
    return undefined;
  }

  get isForgettable(): boolean {
    return (
      this.unfinished.size === 0 &&
      this.parkedFrom === null &&
      !this.isRemembered &&
      this.withdrawn.size === 0 &&
      this.placement === 'attached' &&
      this.health.failingSince === null &&
      this.health.suspendedAt === null
    );
  }
}
