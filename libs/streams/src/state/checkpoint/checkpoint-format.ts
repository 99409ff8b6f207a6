/**
 * A checkpoint file has MAGIC, then record batches as in a log: one with the header as JSON, those of the entries, and
 * an empty one. Record numbers continue from batch to batch, and the first and the last have no key, so missing,
 * repeated or reordered batches are detected.
 */
export const MAGIC = Buffer.from('WPSTATE2');

/** What a checkpoint belongs to. Every field must match what the reader expects. */
export interface CheckpointIdentity {
  readonly applicationId: string;
  readonly store: string;
  readonly topic: string;
  /** Differs if the topic was deleted and created again: its offsets then mean other records. */
  readonly topicId: string;
  readonly partition: number;
  /** What the bytes of the values mean. */
  readonly format: string;
}

export interface CheckpointHeader extends CheckpointIdentity {
  /** Where to replay the changelog from, over the entries. */
  readonly position: number;
  /** When the store had applied everything before `position`, epoch ms. */
  readonly asOf: number;
}
