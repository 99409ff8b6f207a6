import type { RecordBatch } from '../record.js';

/**
 * `known`: all before the suspect is one part, and committed before it. `halving`: a part has at most `size` offsets,
 * and each is committed. Both end once `until` is passed.
 */
type Search = { readonly suspect: number; readonly until: number } & (
  | { readonly type: 'known' }
  | { readonly type: 'halving'; readonly size: number }
);

/**
 * Finds the record that a partition fails at. If a failure names the record, the next task commits what comes before
 * it. Otherwise the task gets fewer records at a time and commits them, until a single one fails.
 */
export class CulpritSearch {
  private search: Search | null = null;
  /** The offsets that a failure may be about: those of the last batch, or since the last commit of the search. */
  private tried: { readonly from: number; readonly to: number } | null = null;
  /** What the last failure named. */
  private named: number | null = null;

  get isOn(): boolean {
    return this.search !== null;
  }

  /** Whether to commit before `nextOffset`, so that a later failure is not blamed on these records. */
  isToCommit(nextOffset: number): boolean {
    return this.search?.type === 'halving' || (this.search !== null && nextOffset >= this.search.suspect);
  }

  reset(): void {
    this.tried = null;
  }

  *parts(batch: RecordBatch, position: number): Generator<RecordBatch> {
    if (!this.search) {
      this.tried = { from: position, to: batch.nextOffset };
      yield batch;
      return;
    }
    for (let from = position; from < batch.nextOffset;) {
      const part = partAt(from, batch, this.search);
      const last = part.records.at(-1);
      // Uncommitted records may be the cause as well.
      if (last) this.tried = { from: this.tried?.from ?? from, to: last.offset + 1 };
      yield part;
      from = part.nextOffset;
      if (this.search && from >= this.search.until) this.search = null;
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
    const before = this.search;
    const isPassed = offset !== null && offset === this.named && offset < from;
    this.named = offset;
    if (offset !== null) {
      this.search = { type: 'known', suspect: offset, until: offset + 1 };
      // Before the search, an earlier batch of the same transaction may have failed. After it, that is committed, but a
      // task may put work off until it has later records.
      return isPassed || (before && offset <= from) ? offset : 'again';
    }
    this.search = { type: 'halving', size: Math.max(1, Math.floor((to - from) / 2)), suspect: from, until: to };
    // Parts before a known record share a transaction, so the failing one is unknown.
    return before?.type === 'halving' && to - from === 1 ? from : 'again';
  }
}

/** The gap before the first record is a part of its own: it is committed, and not skipped again. */
function partAt(from: number, batch: RecordBatch, search: Search | null): RecordBatch {
  const startOf = (at: number): number => batch.records.find(({ offset }) => offset >= at)?.offset ?? batch.nextOffset;
  const first = startOf(from);
  const nextOffset = first > from ? first : startOf(endOfPart(from, search));
  const records = batch.records.filter(({ offset }) => offset >= from && offset < nextOffset);
  return { ...batch, records, nextOffset };
}

function endOfPart(from: number, search: Search | null): number {
  if (!search) return Infinity;
  const end = from < search.suspect ? search.suspect : Infinity;
  return search.type === 'halving' ? Math.min(from + search.size, end) : end;
}
