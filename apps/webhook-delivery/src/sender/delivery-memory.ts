import type { PendingDelivery } from './subscription-backlog.js';

/** What the strings and objects of a delivery take beside its body. */
const DELIVERY_BYTES = 1_024;
const BYTES_PER_CHARACTER = 2;

/** What the unfinished deliveries of a partition, or of all partitions of the process, take in memory. */
export class DeliveryMemory {
  private usedBytes = 0;

  constructor(
    private readonly limitBytes: number,
    private readonly process: DeliveryMemory | null,
  ) {}

  get isFull(): boolean {
    return this.usedBytes >= this.limitBytes || this.process?.isFull === true;
  }

  add({ delivery }: PendingDelivery): void {
    this.change(DELIVERY_BYTES + BYTES_PER_CHARACTER * delivery.body.length);
  }

  remove({ delivery }: PendingDelivery): void {
    this.change(-DELIVERY_BYTES - BYTES_PER_CHARACTER * delivery.body.length);
  }

  private change(bytes: number): void {
    this.usedBytes += bytes;
    this.process?.change(bytes);
  }
}
