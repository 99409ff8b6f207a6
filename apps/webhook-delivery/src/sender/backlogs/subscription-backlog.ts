import { type DeliveryProgress, type EndpointHealth, HEALTHY, type WebhookDelivery } from '@waypost/domain';
import type { Moment } from '../../process/clocks.js';
import type { BegunDelivery } from '../scheduling/lane.js';

/** An unfinished delivery in memory. */
export interface PendingDelivery {
  readonly backlog: SubscriptionBacklog;
  readonly offset: number;
  /** When the broker appended the record, by the broker's clock. */
  readonly appendedAt: number;
  readonly delivery: WebhookDelivery;
  /** The trace context of the record, as received; null: none. */
  readonly traceparent: string | null;
  /** Passed on with `traceparent`. */
  readonly tracestate: string | null;
  progress: DeliveryProgress;
  due: Moment;
  isHeld: boolean;
  /** The reservation; null: the delivery has not begun, or is held. */
  begun: BegunDelivery | null;
}

/** What stays in memory of an unfinished delivery whose record will be read again. */
export type WithdrawnDelivery = Pick<PendingDelivery, 'progress' | 'due'>;

export interface UnfinishedEntry {
  readonly pending: PendingDelivery;
  /** No attempt of the delivery lies before this position of the attempt log. */
  foldFrom: number;
  /** When the delivery came into memory, monotonic. */
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
  /** Sorted by offset, ascending. */
  readonly unfinished = new Map<number, UnfinishedEntry>();
  bytes = 0;
  /** The fleet of the last admitted delivery. */
  fleetId = '';
  /** From this offset on, deliveries are only in the log. null: the backlog is not parked. */
  parkedFrom: number | null = null;
  placement: Placement = 'attached';
  health: EndpointHealth = HEALTHY;
  /** `health.failingSince` on the monotonic clock, which measures the length of an outage. */
  failingSinceMs = Infinity;
  /** `updatedAt` of the subscription at the last attempt that counted; null: none here, the health may be a predecessor's. */
  judgedUnder: number | null = null;
  /** The highest delivery that a predecessor had begun, -1: none. Its attempts lie at or after `begunFoldFrom`. */
  begunUpTo = -1;
  begunFoldFrom = 0;
  /** Whether StateRecords refers to it: a second object for the subscription would overwrite its record. */
  isRemembered = false;
  /** When the last hold ended; null: it was never held here. */
  releasedAt: Moment | null = null;
  isProbing = false;
  /** Whether sending is off, by the owner's decision or because the subscription cannot be read (SubscriptionDirectory, R-16). */
  isPaused = false;
  inFlight = 0;
  /** The number of expired deliveries whose record is not written yet. */
  expiring = 0;
  /** Every delivery up to here was in memory or finished, here or at a predecessor whose record knows it; -1: none. */
  takenUpTo = -1;
  /** No delivery beyond it is finished or was found unusable; -1: none at all. */
  finishedUpTo = -1;
  /** The progress of unfinished deliveries up to `takenUpTo` that are only in the log; others there are finished. */
  readonly withdrawn = new Map<number, WithdrawnDelivery>();
  /** The fleet that the withdrawn deliveries count for. */
  withdrawnOf = '';
  /** No attempt of a withdrawn delivery lies before this position of the attempt log. */
  withdrawnFoldFrom = Infinity;
  /** The catch-up pass that stopped because the backlog was full. */
  stoppedInPass = -1;

  constructor(readonly subscriptionId: string) {}

  get isSuspended(): boolean {
    return this.health.suspendedAt !== null;
  }

  /** Whether only probes are sent. */
  get isHeld(): boolean {
    return this.isPaused || this.isSuspended;
  }

  /** A delivery that came due during a hold is due at its end, so it is not late. */
  dueAfterHold(due: Moment): Moment {
    return this.releasedAt !== null && this.isDueByRelease(due) ? this.releasedAt : due;
  }

  /** Whether it was due when the last hold ended, or before. */
  isDueByRelease({ monotonicMs }: Moment): boolean {
    return this.releasedAt !== null && monotonicMs <= this.releasedAt.monotonicMs;
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
