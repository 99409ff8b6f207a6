import { type DeliveryProgress, type EndpointHealth, HEALTHY, type WebhookDelivery } from '@waypost/domain';

/** A delivery in memory that is not finished. */
export interface PendingDelivery {
  readonly queue: SubscriptionQueue;
  readonly offset: number;
  readonly delivery: WebhookDelivery;
  progress: DeliveryProgress;
  /** When the next attempt is due, epoch ms. */
  dueAt: number;
  /** It waits until its queue is resumed. */
  isHeld: boolean;
}

/**
 * What tells a successor where a queue resumes:
 * - attached: the committed position of the partition;
 * - detaching: still that position, while its state record is being written;
 * - detached: its state record, so that the queue does not hold the position back.
 */
export type Placement = 'attached' | 'detaching' | 'detached';

/** The unfinished deliveries of one subscription in this partition. Owned by PartitionQueues. */
export class SubscriptionQueue {
  /** By offset, ascending. */
  readonly unfinished = new Map<number, { readonly pending: PendingDelivery; foldFrom: number }>();
  /** Parked: deliveries from this offset on are in the log only. null: not parked. */
  parkedFrom: number | null = null;
  placement: Placement = 'attached';
  health: EndpointHealth = HEALTHY;
  /** The highest delivery that a predecessor had begun, -1: none. Its attempts lie at or after `begunFoldFrom`. */
  begunUpTo = -1;
  begunFoldFrom = 0;
  /** StateRecords refers to it: a second object for the subscription would overwrite its record. */
  isRemembered = false;
  /** A probe waits for a slot. */
  isProbing = false;
  /** Probes that failed permanently: the next probe tries another delivery. */
  refusedProbes = 0;
  /** The catch-up pass that stopped because the queue was full. */
  stoppedInPass = -1;

  constructor(readonly subscriptionId: string) {}

  get isSuspended(): boolean {
    return this.health.suspendedAt !== null;
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

  /** The first held delivery; after each probe that failed permanently, the next one. */
  nextProbe(): PendingDelivery | undefined {
    const held = [...this.unfinished.values()].filter(({ pending }) => pending.isHeld);
    return held[this.refusedProbes % Math.max(1, held.length)]?.pending;
  }

  /** It is in its initial state. */
  get isForgettable(): boolean {
    return (
      this.unfinished.size === 0 &&
      this.parkedFrom === null &&
      !this.isRemembered &&
      this.placement === 'attached' &&
      this.health.failingSince === null &&
      this.health.suspendedAt === null
    );
  }
}

/**
 * Strict order: of the deliveries of one subscription and device, only the first unfinished one may be attempted.
 * Used only for subscriptions with `strictOrder`.
 */
export class DeviceOrder {
  private readonly waitingByDevice = new Map<string, PendingDelivery[]>();

  /** Must be called in event order. @returns false when the delivery has to wait for an earlier one */
  enter(pending: PendingDelivery): boolean {
    const key = deviceKey(pending);
    const waiting = this.waitingByDevice.get(key);
    if (!waiting) {
      this.waitingByDevice.set(key, [pending]);
      return true;
    }
    waiting.push(pending);
    return false;
  }

  /** Called when a delivery is finished. @returns the delivery that may be attempted next */
  leave(pending: PendingDelivery): PendingDelivery | null {
    const key = deviceKey(pending);
    const waiting = this.waitingByDevice.get(key);
    if (waiting?.[0] !== pending) return null;
    waiting.shift();
    const next = waiting.at(0);
    if (next) return next;
    this.waitingByDevice.delete(key);
    return null;
  }
}

function deviceKey({ delivery }: PendingDelivery): string {
  return `${delivery.subscriptionId}\u001f${delivery.deviceId}`;
}
