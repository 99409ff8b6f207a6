import type { RecordBatch } from '../record.js';

const WHOLE_BATCHES = Number.MAX_SAFE_INTEGER;

/**
 * Finds the record that a partition fails at: after a failure the next task commits what comes before the record, where
 * that is known. Else it gets fewer records at a time and commits them, until a single one fails.
 */
export class CulpritSearch {
  /** How many offsets are tried at a time, before `until`. */
  private step = Infinity;
  private until = 0;
  /** What comes before this offset is tried by itself. */
  private suspect = 0;
  private tried: { readonly from: number; readonly to: number } | null = null;

  get isOn(): boolean {
    return this.step < Infinity;
  }

  /**
   * Whether what was tried must be committed before `nextOffset` is: what fails then is not its fault. Before a record that
   * is known, only what comes last before it.
   */
  isToCommit(nextOffset: number): boolean {
    return this.isOn && (this.step < WHOLE_BATCHES || nextOffset >= this.suspect);
  }

  reset(): void {
    this.tried = null;
  }

  *parts(batch: RecordBatch, position: number): Generator<RecordBatch> {
    if (!this.isOn) {
      this.tried = { from: position, to: batch.nextOffset };
      yield batch;
      return;
    }
    const { topic, partition, highWatermark, lastStableOffset, leaderEpoch, records } = batch;
    for (let index = 0, from = position; from < batch.nextOffset;) {
      const first = records[index]?.offset ?? batch.nextOffset;
      // What was left out before the first record goes by itself: it is committed, and not left out again.
      const reach = first > from ? first : Math.min(from + this.step, from < this.suspect ? this.suspect : Infinity);
      const inReach = records.slice(index).findIndex(({ offset }) => offset >= reach);
      const end = inReach < 0 ? records.length : index + inReach;
      const nextOffset = records[end]?.offset ?? batch.nextOffset;
      // What is not committed may be the cause as well.
      if (end > index) this.tried = { from: this.tried?.from ?? from, to: (records[end - 1]?.offset ?? from) + 1 };
      yield {
        topic,
        partition,
        highWatermark,
        lastStableOffset,
        leaderEpoch,
        records: records.slice(index, end),
        nextOffset,
      };
      if (nextOffset >= this.until) this.step = Infinity;
      [index, from] = [end, nextOffset];
    }
  }

  /**
   * What was tried last has failed.
   * @param offset of the record, where the task knows it
   * @returns the record's offset; 'again': the next attempt gets closer; null: no record was tried
   */
  narrow(offset: number | null): number | 'again' | null {
    if (!this.tried) return offset;
    const { from, to } = this.tried;
    const half = Math.floor((to - from) / 2);
    // Until the search is on, a failure may be that of an earlier batch of the same transaction, which comes first.
    // Nor is it known whose it is before a known record, where parts are not committed one by one.
    const isFound = this.isOn && (offset === null ? half < 1 && this.step < WHOLE_BATCHES : offset <= from);
    this.suspect = offset ?? from;
    this.step = offset === null ? Math.max(1, half) : WHOLE_BATCHES;
    this.until = isFound || offset !== null ? this.suspect + 1 : to;
    return isFound ? this.suspect : 'again';
  }
}
