import type { WebhookDelivery } from '@waypost/domain';
import type { AppliedBatch } from './delivery-projection.js';

/** Consecutive deliveries of one partition of their log. */
export interface WaitingBatch {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller believes to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  readonly nextOffset: number;
  readonly deliveries: readonly WebhookDelivery[];
}

export interface AppliedWaiting extends Pick<AppliedBatch, 'type'> {
  /** Those that had no attempt, and were stored. */
  readonly waiting: number;
}

/**
 * Stores the deliveries that have no attempt yet; the projection of the attempts removes them when they end. A delivery
 * and its attempts are in the same partition of their logs.
 */
export abstract class WaitingProjection {
  abstract readPosition(topic: string, partition: number): Promise<number | null>;
  /** Every attempt of the partition that was logged before this is projected; epoch ms. null: not known. */
  abstract attemptsCompleteUntil(partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  abstract apply(
    batch: WaitingBatch,
  ): Promise<AppliedWaiting | { readonly type: 'superseded'; readonly storedOffset: number | null }>;
}
