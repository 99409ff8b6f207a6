import type { PendingDelivery } from './subscription-queue.js';

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

  /** It leaves memory unfinished, and will enter again in its place. */
  withdraw(pending: PendingDelivery): void {
    const key = deviceKey(pending);
    const rest = this.waitingByDevice.get(key)?.filter((waiting) => waiting !== pending) ?? [];
    if (rest.length > 0) this.waitingByDevice.set(key, rest);
    else this.waitingByDevice.delete(key);
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
