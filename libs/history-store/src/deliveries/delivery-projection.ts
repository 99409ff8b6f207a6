import type { WebhookAttempt } from '@waypost/domain';
import type { PositionMove, Superseded } from '../projection/projection-transaction.js';

/** Consecutive attempts of one partition of the attempt log. */
export interface AttemptBatch extends PositionMove {
  readonly attempts: readonly WebhookAttempt[];
}

export interface AppliedBatch {
  readonly type: 'applied';
  readonly deliveries: number;
  /** Attempts not written because their day is beyond the retention. */
  readonly expiredAttempts: number;
  /** Deliveries not written because their first record, with the body, is neither stored nor in the batch. */
  readonly headlessDeliveries: number;
}

export type ApplyResult = AppliedBatch | Superseded;

/** Folds the attempt log into deliveries, each batch exactly once. */
export abstract class DeliveryProjection {
  /** Where the next batch of a partition starts; null: nothing was ever applied. */
  abstract readPosition(topic: string, partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  abstract apply(batch: AttemptBatch): Promise<ApplyResult>;
}
