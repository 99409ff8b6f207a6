import type { EntryTable } from './entry-table.js';

const FIRST_RECORDS = 64;
/** A store keeps the buffer of an ordinary transaction for the next one, and gives that of a huge one back. */
const KEPT_WORDS = 1 << 20;

/**
 * The entries that the open transaction has touched, each with what it was before: its bytes, and whether it was there
 * at all (a new entry is not live when it is noted).
 */
export class UndoLog {
  count = 0;
  private words: Int32Array;
  private readonly recordWords: number;

  constructor(private readonly entries: EntryTable) {
    this.recordWords = 1 + entries.strideWords;
    this.words = new Int32Array(FIRST_RECORDS * this.recordWords);
  }

  note(entry: number): void {
    const at = this.count * this.recordWords;
    if (at === this.words.length) this.grow();
    this.words[at] = entry;
    this.entries.copyOut(entry, this.words, at + 1);
    this.count++;
  }

  entryAt(index: number): number {
    return this.words[index * this.recordWords] as number;
  }

  putBack(index: number): void {
    const at = index * this.recordWords;
    this.entries.copyIn(this.words[at] as number, this.words, at + 1);
  }

  forget(): void {
    this.count = 0;
    if (this.words.length > KEPT_WORDS) this.words = new Int32Array(FIRST_RECORDS * this.recordWords);
  }

  get bufferBytes(): number {
    return this.words.byteLength;
  }

  private grow(): void {
    const words = new Int32Array(2 * this.words.length);
    words.set(this.words);
    this.words = words;
  }
}
