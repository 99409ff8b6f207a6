import { HEALTHY, type DeliveryProgress, type EndpointHealth, type WebhookDelivery } from '@waypost/domain';

/** A delivery that was read and is not known to be finished. */
export interface PendingDelivery {
  readonly queue: SubscriptionQueue;
  readonly offset: number;
  readonly delivery: WebhookDelivery;
  progress: DeliveryProgress;
  /** When the next attempt is due, epoch ms. */
  dueAt: number;
  /** Waits for its queue to be resumed. */
  isHeld: boolean;
}

/**
 * Where a queue's unfinished deliveries are accounted for:
 * - attached: by the committed position of the partition;
 * - detaching: still by it, while the record that is to take over is being written;
 * - detached: by that record, so that they do not hold the position back.
 */
export type Placement = 'attached' | 'detaching' | 'detached';

/** What is known of the deliveries of one subscription in this partition. Its owner is PartitionQueues. */
export class SubscriptionQueue {
  /** By offset, ascending. */
  readonly unfinished = new Map<number, { readonly pending: PendingDelivery; foldFrom: number }>();
  /** Deliveries from this offset on lie in the log and were not taken in; null: all that were read are. */
  behindFrom: number | null = null;
  placement: Placement = 'attached';
  health: EndpointHealth = HEALTHY;
  /** The highest delivery that a predecessor had begun, -1: none; its attempts lie from `begunFoldFrom` on. */
  begunUpTo = -1;
  begunFoldFrom = 0;
  /** State records keep it: two objects for one subscription would write over each other. */
  isRemembered = false;
  /** A probe waits for its turn. */
  isProbing = false;
  /** Probes that were refused for good: the next one tries another delivery. */
  refusedProbes = 0;
  /** The catch-up pass in which it had no room left. */
  stoppedInPass = -1;

  constructor(readonly subscriptionId: string) {}

  get isSuspended(): boolean {
    return this.health.suspendedAt !== null;
  }

  /** The lowest delivery that is not finished; null: there is none. */
  lowest(): number | null {
    for (const offset of this.unfinished.keys()) return offset;
    return this.behindFrom;
  }

  /** The unfinished delivery that comes first; null when none is in memory. */
  first(): PendingDelivery | null {
    for (const { pending } of this.unfinished.values()) return pending;
    return null;
  }

  /** The first held one; behind each that was refused for good as a probe, the next. */
  nextProbe(): PendingDelivery | undefined {
    const held = [...this.unfinished.values()].filter(({ pending }) => pending.isHeld);
    return held[this.refusedProbes % Math.max(1, held.length)]?.pending;
  }

  /** Nothing needs to be remembered of it. */
  get isForgettable(): boolean {
    return (
      this.unfinished.size === 0 &&
      this.behindFrom === null &&
      !this.isRemembered &&
      this.placement === 'attached' &&
      this.health.failingSince === null &&
      this.health.suspendedAt === null
    );
  }
}
