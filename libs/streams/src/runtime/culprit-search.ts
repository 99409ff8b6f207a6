import type { RecordBatch } from '../record.js';

const WHOLE_BATCHES = Number.MAX_SAFE_INTEGER;

/**
 * Finds the record that a partition fails at. If a failure names the record, the next task commits what comes before
 * it. Otherwise the task gets fewer records at a time and commits them, until a single one fails.
 */
export class CulpritSearch {
  /** How many offsets to try at a time, before `until`. */
  private step = Infinity;
  private until = 0;
  /** Records before this offset are tried by themselves. */
  private suspect = 0;
  private tried: { readonly from: number; readonly to: number } | null = null;

  get isOn(): boolean {
    return this.step < Infinity;
  }

  /**
   * Whether to commit before `nextOffset`, so that a later failure is not blamed on these records. With a known record,
   * only the part right before it is committed.
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
      // The gap before the first record is a part of its own: it is committed, and not skipped again.
      const reach = first > from ? first : Math.min(from + this.step, from < this.suspect ? this.suspect : Infinity);
      const inReach = records.slice(index).findIndex(({ offset }) => offset >= reach);
      const end = inReach < 0 ? records.length : index + inReach;
      const nextOffset = records[end]?.offset ?? batch.nextOffset;
      // Uncommitted records may be the cause as well.
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
   * Call when the last part has failed.
   * @param offset the record's, if the task knows it
   * @returns the record's offset; 'again': the next attempt gets closer; null: no record was tried
   */
  narrow(offset: number | null): number | 'again' | null {
    if (!this.tried) return offset;
    const { from, to } = this.tried;
    const half = Math.floor((to - from) / 2);
    // Before the search, an earlier batch of the same transaction may have failed. Parts before a known record share a
    // transaction, so the failing one is unknown too.
    const isFound = this.isOn && (offset === null ? half < 1 && this.step < WHOLE_BATCHES : offset <= from);
    this.suspect = offset ?? from;
    this.step = offset === null ? Math.max(1, half) : WHOLE_BATCHES;
    this.until = isFound || offset !== null ? this.suspect + 1 : to;
    return isFound ? this.suspect : 'again';
  }
}
