import type { WebhookDelivery } from '@waypost/domain';
import { freeForFleet } from '../../shares/fleet-share.js';

/** The overhead of a delivery's strings and objects, without its body. */
const DELIVERY_BYTES = 1_024;
const BYTES_PER_CHARACTER = 2;
/** The size of the progress kept for a withdrawn delivery. */
const WITHDRAWN_BYTES = 300;

export function bytesOf({ body }: Pick<WebhookDelivery, 'body'>): number {
  return DELIVERY_BYTES + BYTES_PER_CHARACTER * body.length;
}

/**
 * The memory of the unfinished deliveries of a partition, or of all partitions of the process, and each fleet's part of
 * it. Withdrawn deliveries count with their progress. As with reservations, a fleet's share is a fraction of
 * what is free, so some memory always stays free.
 */
export class DeliveryMemory {
  private usedBytes = 0;
  private readonly byFleet = new Map<string, number>();

  constructor(
    private readonly limitBytes: number,
    private readonly process: DeliveryMemory | null,
  ) {}

  freeFor(fleetId: string): number {
    const free = freeForFleet(this.limitBytes, this.usedBytes, this.byFleet.get(fleetId) ?? 0);
    return Math.min(free, this.process?.freeFor(fleetId) ?? Infinity);
  }

  add(delivery: WebhookDelivery): void {
    this.change(delivery.fleetId, bytesOf(delivery));
  }

  remove(delivery: WebhookDelivery): void {
    this.change(delivery.fleetId, -bytesOf(delivery));
  }

  /** @param by the change in the number of the fleet's withdrawn deliveries */
  withdrawnChanged(fleetId: string, by: number): void {
    this.change(fleetId, by * WITHDRAWN_BYTES);
  }

  private change(fleetId: string, bytes: number): void {
    this.usedBytes += bytes;
    const ofFleet = (this.byFleet.get(fleetId) ?? 0) + bytes;
    if (ofFleet > 0) this.byFleet.set(fleetId, ofFleet);
    else this.byFleet.delete(fleetId);
    this.process?.change(fleetId, bytes);
  }
}
