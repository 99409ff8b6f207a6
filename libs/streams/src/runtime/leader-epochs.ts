import type { CommittedOffset, StreamsBackend } from '../backend/backend.js';
import { LogTruncated } from '../errors.js';
import { partitionName, type RecordBatch } from '../record.js';
import { positionEntry, valueIn } from './position-metadata.js';

/**
 * Tracks the leader epoch of each source's position. An unclean election loses records and gives their offsets to
 * others: a position alone would then skip those silently.
 */
export class LeaderEpochs {
  /** Epochs by topic; undefined: unknown. */
  private readonly known = new Map<string, number | undefined>();

  constructor(
    private readonly backend: Pick<StreamsBackend, 'epochEnd'>,
    private readonly partition: number,
  ) {}

  /** For the metadata of a commit. */
  entries(topic: string): string[] {
    const epoch = this.known.get(topic);
    return epoch === undefined ? [] : [positionEntry('epoch', epoch)];
  }

  /** @throws LogTruncated: the log has lost records before the position */
  async resume(topic: string, { offset, metadata }: CommittedOffset): Promise<void> {
    const epoch = valueIn(metadata, 'epoch');
    if (epoch === undefined) return;
    this.known.set(topic, Number(epoch));
    const end = await this.endBefore(topic, offset);
    if (end === null) return;
    const name = partitionName({ topic, partition: this.partition });
    throw new LogTruncated(
      topic,
      `The log of ${name} has lost processed records, the offsets ${String(end)} to ${String(offset - 1)}, which other records may have now: a replica that lacked them became leader (unclean.leader.election.enable). Seek to ${String(end)} to apply newer records to the state that the lost ones have left, or to latest to skip them.`,
    );
  }

  changesWith({ topic, leaderEpoch }: RecordBatch): boolean {
    return leaderEpoch !== this.known.get(topic);
  }

  /**
   * Call before a batch is processed from a position. Rejects if the log has lost records before it. The committed
   * position may precede all of them: only the next task, which goes back to it, knows whether to ask for a decision.
   */
  async advance(batch: RecordBatch, position: number): Promise<void> {
    const { topic, leaderEpoch } = batch;
    const end = await this.endBefore(topic, position, leaderEpoch);
    if (end !== null) throw new Error(`The log of ${partitionName(batch)} has lost records from ${String(end)} on.`);
    this.known.set(topic, leaderEpoch);
  }

  /** Where the records before a position end; null: not before it, as far as is known. */
  private async endBefore(topic: string, position: number, reached?: number): Promise<number | null> {
    const epoch = this.known.get(topic);
    if (epoch === undefined) return null;
    const end = await this.backend.epochEnd({ topic, partition: this.partition }, epoch, reached);
    return end !== null && end < position ? end : null;
  }
}
