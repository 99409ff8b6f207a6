import type { PendingDelivery } from '../backlogs/subscription-backlog.js';

/**
 * Strict order: of the deliveries of one subscription and device, only the first unfinished one may be attempted.
 * Used only for subscriptions with `strictOrder`.
 */
export class DeviceOrder {
  private readonly unfinishedByDevice = new Map<string, PendingDelivery[]>();
  /** Deliveries that wait for no others: they were under way when the subscription became strict. */
  private readonly ahead = new Set<PendingDelivery>();

  /** Call in event order. @returns false if the delivery has to wait for an earlier one */
  enter(pending: PendingDelivery): boolean {
    const key = deviceKey(pending);
    const unfinished = this.unfinishedByDevice.get(key);
    if (!unfinished) {
      this.unfinishedByDevice.set(key, [pending]);
      return true;
    }
    unfinished.push(pending);
    return false;
  }

  has(pending: PendingDelivery): boolean {
    return this.unfinishedByDevice.get(deviceKey(pending))?.includes(pending) === true;
  }

  /** Adds deliveries that were under way before the subscription became strict, in event order: later ones wait for them. */
  enterAhead(pending: PendingDelivery): void {
    this.enter(pending);
    this.ahead.add(pending);
  }

  /** Call when the subscription is no longer strict. @returns its deliveries that had to wait, in order */
  dissolve(deliveries: readonly PendingDelivery[]): PendingDelivery[] {
    const waiting = deliveries.filter((pending) => this.isWaiting(pending));
    for (const pending of deliveries) this.withdraw(pending);
    return waiting;
  }

  /** Removes a delivery that leaves memory unfinished; it will enter again in its place. */
  withdraw(pending: PendingDelivery): void {
    const key = deviceKey(pending);
    this.ahead.delete(pending);
    const rest = this.unfinishedByDevice.get(key)?.filter((other) => other !== pending) ?? [];
    if (rest.length > 0) this.unfinishedByDevice.set(key, rest);
    else this.unfinishedByDevice.delete(key);
  }

  /** Call when a delivery is finished. @returns the delivery that may be attempted next */
  leave(pending: PendingDelivery): PendingDelivery | null {
    const wasFirst = this.unfinishedByDevice.get(deviceKey(pending))?.[0] === pending;
    this.withdraw(pending);
    const next = this.unfinishedByDevice.get(deviceKey(pending))?.at(0);
    return wasFirst && next !== undefined && !this.ahead.has(next) ? next : null;
  }

  private isWaiting(pending: PendingDelivery): boolean {
    if (this.ahead.has(pending) || !this.has(pending)) return false;
    return this.unfinishedByDevice.get(deviceKey(pending))?.[0] !== pending;
  }
}

function deviceKey({ delivery }: PendingDelivery): string {
  return `${delivery.subscriptionId}\u001f${delivery.deviceId}`;
}
