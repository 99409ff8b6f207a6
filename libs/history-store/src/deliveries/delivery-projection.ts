import type { WebhookAttempt } from '@waypost/domain';

/** Consecutive attempts of one partition of the attempt log. */
export interface AttemptBatch {
  readonly topic: string;
  readonly partition: number;
  /** The position that the caller believes to be stored; null: none yet. */
  readonly expectedOffset: number | null;
  /** The position after the batch; it moves even if `attempts` is empty. */
  readonly nextOffset: number;
  readonly attempts: readonly WebhookAttempt[];
  /** Everything that was logged before this is in the batch or before it; epoch ms. Absent: not known. */
  readonly completeUntil?: number | undefined;
}

export interface AppliedBatch {
  readonly type: 'applied';
  /** Deliveries that the batch wrote or added attempts to. */
  readonly deliveries: number;
  /** Attempts whose day is beyond the retention; not written. */
  readonly expiredAttempts: number;
  /** Deliveries whose first record, which has the body, is neither stored nor in the batch; not written. */
  readonly headlessDeliveries: number;
}

export type ApplyResult =
  | AppliedBatch
  /** Another writer moved the position. Nothing was written; continue from the stored position. */
  | { readonly type: 'superseded'; readonly storedOffset: number | null };

/** Folds the attempt log into deliveries, each batch exactly once. */
export abstract class DeliveryProjection {
  /** Where the next batch of a partition starts; null: nothing was ever applied. */
  abstract readPosition(topic: string, partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  abstract apply(batch: AttemptBatch): Promise<ApplyResult>;
}
