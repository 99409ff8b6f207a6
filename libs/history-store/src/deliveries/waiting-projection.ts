import type { WebhookDelivery } from '@waypost/domain';
import type { PositionMove, Superseded } from '../projection/projection-transaction.js';
import type { AppliedBatch } from './delivery-projection.js';

/** Consecutive deliveries of one partition of their log. */
export interface WaitingBatch extends Omit<PositionMove, 'completeUntil'> {
  readonly deliveries: readonly WebhookDelivery[];
}

export interface AppliedWaiting extends Pick<AppliedBatch, 'type'> {
  readonly waiting: number;
}

/**
 * stores deliveries without an attempt; the projection of the attempts removes them when they end. Both logs use
 * the same partition.
 */
export abstract class WaitingProjection {
  abstract readPosition(topic: string, partition: number): Promise<number | null>;
  /** Every attempt logged in the partition before this is projected; epoch ms. null: not known. */
  abstract attemptsCompleteUntil(partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  abstract apply(batch: WaitingBatch): Promise<AppliedWaiting | Superseded>;
}
