/**
 * A checkpoint file has MAGIC, then record batches as in a log: one with the header as JSON, those of the entries, and an
 * empty one. Records are numbered on from batch to batch, and the first and the last have no key, so that nothing can be
 * missing, twice or in another order.
 */
export const MAGIC = Buffer.from('WPSTATE2');

/** What a checkpoint belongs to. Every field must match what the reader expects. */
export interface CheckpointIdentity {
  readonly applicationId: string;
  readonly store: string;
  readonly topic: string;
  /** Differs when the topic was deleted and created again: its offsets then mean other records. */
  readonly topicId: string;
  readonly partition: number;
  /** What the bytes of the values mean. */
  readonly format: string;
}

export interface CheckpointHeader extends CheckpointIdentity {
  /** The changelog offset to replay from, over the entries. */
  readonly position: number;
  /** When the store had applied everything before `position`, epoch ms. */
  readonly asOf: number;
}
