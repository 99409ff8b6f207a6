import type { PendingDelivery } from './subscription-queue.js';

/**
 * Strict order: of the deliveries of one subscription and device only the first unfinished one may be attempted.
 * Those of subscriptions that did not ask for it never come here.
 */
export class DeviceOrder {
  private readonly lines = new Map<string, PendingDelivery[]>();

  /** Deliveries come in event order. False: it has to wait for an earlier one. */
  enter(pending: PendingDelivery): boolean {
    const name = lineOf(pending);
    const line = this.lines.get(name);
    if (!line) {
      this.lines.set(name, [pending]);
      return true;
    }
    line.push(pending);
    return false;
  }

  /** A delivery is finished. @returns the one that may go now */
  leave(pending: PendingDelivery): PendingDelivery | null {
    const name = lineOf(pending);
    const line = this.lines.get(name);
    if (line?.[0] !== pending) return null;
    line.shift();
    const next = line.at(0);
    if (next) return next;
    this.lines.delete(name);
    return null;
  }
}

const lineOf = ({ delivery }: PendingDelivery): string => `${delivery.subscriptionId}\u001f${delivery.deviceId}`;
