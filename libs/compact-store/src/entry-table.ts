/** A fixed-width value in a buffer: a compact store keeps values without an object per entry. */
export interface StructLayout<T, Overflow extends object = object, View extends T = T> {
  readonly byteLength: number;
  /** Changes with the meaning of the bytes: a checkpoint of another version is not read. */
  readonly version: string;
  /** May return a view of the bytes, valid until the next change of the store. */
  read(view: DataView, at: number, overflow: Overflow | undefined): View;
  write(view: DataView, at: number, value: T): void;
  readonly overflow?: OverflowLayout<T, Overflow> | undefined;
}

/** The variable-width part that a few values have: an object beside the bytes that must not be changed. */
export interface OverflowLayout<T, Overflow extends object> {
  /** undefined: this value has none. Returning the same object for an unchanged part saves work. */
  of(value: T): Overflow | undefined;
  /** Whether the bytes belong to a value with an overflow; checked before the lookup. */
  isPresent(view: DataView, at: number): boolean;
  toBytes(overflow: Overflow): Uint8Array;
  fromBytes(bytes: Uint8Array): Overflow;
}

const CHUNK_BITS = 10;
const CHUNK_ENTRIES = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_ENTRIES - 1;
const NONE = -1;

/** Word 0: where the key lies. Bytes 4 and 5: its length. Byte 6: flags. From byte 7 on: the value. */
const LENGTH_AT = 4;
const FLAGS_AT = 6;
const VALUE_AT = 7;

/** Processors see the entry. */
const LIVE = 1;
/** The open transaction has touched the entry. */
const DIRTY = 2;

interface Chunk {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Entries by number, in chunks. A new entry reuses the space of a removed one. */
export class EntryTable {
  /** All numbers ever assigned, removed entries included. */
  count = 0;
  readonly strideWords: number;
  private chunks: Chunk[] = [];
  private firstFreed = NONE;

  constructor(readonly valueBytes: number) {
    this.strideWords = (VALUE_AT + valueBytes + 3) >>> 2;
  }

  /** Adds an entry, neither live nor dirty, with a value of undefined bytes. */
  add(keyAt: number, keyLength: number): number {
    const entry = this.room();
    const { words, bytes } = this.chunkOf(entry);
    const word = this.wordOf(entry);
    words[word] = keyAt;
    const byte = word << 2;
    bytes[byte + LENGTH_AT] = keyLength;
    bytes[byte + LENGTH_AT + 1] = keyLength >>> 8;
    bytes[byte + FLAGS_AT] = 0;
    return entry;
  }

  remove(entry: number): void {
    const { words, bytes } = this.chunkOf(entry);
    const word = this.wordOf(entry);
    words[word] = this.firstFreed;
    bytes[(word << 2) + FLAGS_AT] = 0;
    this.firstFreed = entry;
  }

  keyAt(entry: number): number {
    return (this.chunkOf(entry).words[this.wordOf(entry)] as number) >>> 0;
  }

  keyLength(entry: number): number {
    const { bytes } = this.chunkOf(entry);
    const at = (this.wordOf(entry) << 2) + LENGTH_AT;
    return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  }

  isLive(entry: number): boolean {
    return (this.flags(entry) & LIVE) !== 0;
  }

  isDirty(entry: number): boolean {
    return (this.flags(entry) & DIRTY) !== 0;
  }

  isUsed(entry: number): boolean {
    return this.flags(entry) !== 0;
  }

  setFlags(entry: number, live: boolean, dirty: boolean): void {
    const { bytes } = this.chunkOf(entry);
    bytes[(this.wordOf(entry) << 2) + FLAGS_AT] = (live ? LIVE : 0) | (dirty ? DIRTY : 0);
  }

  viewOf(entry: number): DataView {
    return this.chunkOf(entry).view;
  }

  bytesOf(entry: number): Uint8Array {
    return this.chunkOf(entry).bytes;
  }

  valueAt(entry: number): number {
    return (this.wordOf(entry) << 2) + VALUE_AT;
  }

  copyOut(entry: number, into: Int32Array, at: number): void {
    const { words } = this.chunkOf(entry);
    const start = this.wordOf(entry);
    for (let i = 0; i < this.strideWords; i++) into[at + i] = words[start + i] as number;
  }

  copyIn(entry: number, from: Int32Array, at: number): void {
    const { words } = this.chunkOf(entry);
    const start = this.wordOf(entry);
    for (let i = 0; i < this.strideWords; i++) words[start + i] = from[at + i] as number;
  }

  clear(): void {
    this.chunks = [];
    this.count = 0;
    this.firstFreed = NONE;
  }

  get bufferBytes(): number {
    return this.chunks.length * CHUNK_ENTRIES * this.strideWords * 4;
  }

  private flags(entry: number): number {
    return this.chunkOf(entry).bytes[(this.wordOf(entry) << 2) + FLAGS_AT] as number;
  }

  private chunkOf(entry: number): Chunk {
    return this.chunks[entry >>> CHUNK_BITS] as Chunk;
  }

  private wordOf(entry: number): number {
    return (entry & CHUNK_MASK) * this.strideWords;
  }

  private room(): number {
    const freed = this.firstFreed;
    if (freed !== NONE) {
      this.firstFreed = this.chunkOf(freed).words[this.wordOf(freed)] as number;
      return freed;
    }
    if (this.count === this.chunks.length << CHUNK_BITS) {
      const words = new Int32Array(CHUNK_ENTRIES * this.strideWords);
      this.chunks.push({ words, bytes: new Uint8Array(words.buffer), view: new DataView(words.buffer) });
    }
    return this.count++;
  }
}

const FIRST_RECORDS = 64;
/** The buffer of an ordinary transaction is kept for the next one; that of a huge one is freed. */
const KEPT_WORDS = 1 << 20;

/**
 * The entries touched by the open transaction, each with its previous bytes, and whether it existed (a new entry is not
 * live when it is noted).
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
