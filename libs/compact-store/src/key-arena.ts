import type { KeyBuilder } from './key-builder.js';

/** 2^14 words: as long as the longest key. */
const CHUNK_WORD_BITS = 14;
const CHUNK_WORDS = 1 << CHUNK_WORD_BITS;
const WORD_MASK = CHUNK_WORDS - 1;
const NONE = -1;

/**
 * The bytes of all keys, in chunks, each padded to whole words. A key is addressed by a word number: chunk and offset.
 * A new key reuses the space of a removed one with as many words; the keys of one store are of similar length.
 */
export class KeyArena {
  private chunks: Int32Array[] = [];
  private chunkBytes: Uint8Array[] = [];
  private next = 0;
  /** The first free space of each size; its first word points to the next one. */
  private readonly freed = new Map<number, number>();

  /** Returns the address of the key; `count` is the result of seal(). */
  add(key: KeyBuilder, count: number): number {
    const at = this.room(Math.max(count, 1));
    const words = this.wordsAt(at);
    const start = at & WORD_MASK;
    for (let i = 0; i < count; i++) words[start + i] = key.words[i] as number;
    return at;
  }

  remove(at: number, count: number): void {
    const size = Math.max(count, 1);
    this.wordsAt(at)[at & WORD_MASK] = this.freed.get(size) ?? NONE;
    this.freed.set(size, at);
  }

  /** The chunk of the key at `at`, in which it starts at word startOf(at). */
  wordsAt(at: number): Int32Array {
    return this.chunks[at >>> CHUNK_WORD_BITS] as Int32Array;
  }

  bytesAt(at: number): Uint8Array {
    return this.chunkBytes[at >>> CHUNK_WORD_BITS] as Uint8Array;
  }

  startOf(at: number): number {
    return at & WORD_MASK;
  }

  clear(): void {
    this.chunks = [];
    this.chunkBytes = [];
    this.next = 0;
    this.freed.clear();
  }

  get bufferBytes(): number {
    return this.chunks.length * CHUNK_WORDS * 4;
  }

  private room(size: number): number {
    const freed = this.freed.get(size);
    if (freed !== undefined) {
      const following = this.wordsAt(freed)[freed & WORD_MASK] as number;
      if (following === NONE) this.freed.delete(size);
      else this.freed.set(size, following >>> 0);
      return freed;
    }
    if ((this.next & WORD_MASK) + size > CHUNK_WORDS) this.next = this.chunks.length * CHUNK_WORDS;
    if (this.next === this.chunks.length * CHUNK_WORDS) this.addChunk();
    const at = this.next;
    this.next += size;
    return at;
  }

  private addChunk(): void {
    const words = new Int32Array(CHUNK_WORDS);
    this.chunks.push(words);
    this.chunkBytes.push(new Uint8Array(words.buffer));
  }
}
