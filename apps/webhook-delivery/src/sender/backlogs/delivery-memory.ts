import type { WebhookDelivery } from '@waypost/domain';
import { freeForFleet } from '../../shares/fleet-share.js';

/** What the strings and objects of a delivery take beside its body. */
const DELIVERY_BYTES = 1_024;
const BYTES_PER_CHARACTER = 2;
/** What is kept of one that has left memory for the log: its progress. */
const WITHDRAWN_BYTES = 300;

export function bytesOf({ body }: Pick<WebhookDelivery, 'body'>): number {
  return DELIVERY_BYTES + BYTES_PER_CHARACTER * body.length;
}

/**
 * What the unfinished deliveries of a partition, or of all partitions of the process, take in memory, also those of which
 * only the progress is kept, and how much of it is each fleet's. As with reservations, the share of a fleet is a part of what is free, so that something always is.
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

  /** @param by how many more, or fewer, of the fleet are kept as withdrawn */
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
