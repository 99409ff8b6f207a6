import { hash, randomFillSync } from 'node:crypto';
import { isUuid } from '@waypost/domain';

/** 32-bit words per id. */
const WORDS = 4;
const WORD_BITS = 32;
const HEX_OF_WORD = 8;
const FIRST_SLOTS = 64;

/** One more than the largest part that `partOf` can return. */
export const PARTS = 2 ** WORD_BITS;

/**
 * A set of ids, optionally with a 32-bit number for each. UUIDs are stored in full, since two hashes could collide. Any
 * other id is stored as a 128-bit hash: among 100 million ids, two collide with a probability of 10^-23.
 *
 * An id takes 16 bytes, and 4 for its number, in a table that is between three eighths and three quarters full: 21 to
 * 43 bytes, or 27 to 53. As a string in a Set or a Map, it takes 80 to 140.
 */
export class IdTable {
  private count = 0;
  private slots = FIRST_SLOTS;
  private readonly width: number;
  /** All zeros in the words of an id mark a free slot. */
  private table: Uint32Array;
  /** Random factors keep callers from choosing ids that collide. */
  private readonly factors = randomFillSync(new Uint32Array(WORDS)).map((factor) => factor | 1);
  private readonly words = new Uint32Array(WORDS);

  constructor({ withNumbers }: { readonly withNumbers: boolean }) {
    this.width = withNumbers ? WORDS + 1 : WORDS;
    this.table = new Uint32Array(this.slots * this.width);
  }

  get size(): number {
    return this.count;
  }

  get bytes(): number {
    return this.table.byteLength;
  }

  add(id: string, number = 0): void {
    this.read(id);
    this.put(this.words, 0, number);
  }

  has(id: string): boolean {
    return this.at(id) >= 0;
  }

  /** undefined: the id is not in the table. */
  numberOf(id: string): number | undefined {
    const at = this.at(id);
    return at < 0 ? undefined : this.table[at + WORDS];
  }

  /** A number below PARTS, the same in all tables, that spreads ids of every kind evenly. */
  partOf(id: string): number {
    this.read(id);
    return this.words[WORDS - 1] ?? 0;
  }

  /** @returns the ids in the parts below `part` */
  below(part: number): IdTable {
    const { table, width } = this;
    const kept = new IdTable({ withNumbers: width > WORDS });
    for (let from = 0; from < table.length; from += width) {
      const isKept = !isFree(table, from) && (table[from + WORDS - 1] ?? 0) < part;
      if (isKept) kept.put(table, from, width > WORDS ? (table[from + WORDS] ?? 0) : 0);
    }
    return kept;
  }

  private at(id: string): number {
    if (this.count === 0) return -1;
    this.read(id);
    const at = this.find(this.words, 0);
    return isFree(this.table, at) ? -1 : at;
  }

  private read(id: string): void {
    readUuid(id, this.words);
    if (isFree(this.words, 0)) readHex(hash('sha256', id, 'hex'), this.words);
  }

  private put(words: Uint32Array, from: number, number: number): void {
    if ((this.count + 1) * 4 > this.slots * 3) this.grow();
    const at = this.find(words, from);
    if (isFree(this.table, at)) this.count++;
    for (let word = 0; word < WORDS; word++) this.table[at + word] = words[from + word] ?? 0;
    if (this.width > WORDS) this.table[at + WORDS] = number;
  }

  private grow(): void {
    const { table, width } = this;
    this.slots *= 2;
    this.table = new Uint32Array(this.slots * width);
    for (let from = 0; from < table.length; from += width) {
      if (isFree(table, from)) continue;
      const at = this.find(table, from);
      for (let word = 0; word < width; word++) this.table[at + word] = table[from + word] ?? 0;
    }
  }

  /** @returns the slot of the id at `from`, or the free slot for it */
  private find(words: Uint32Array, from: number): number {
    let sum = 0;
    for (let word = 0; word < WORDS; word++) sum += Math.imul(words[from + word] ?? 0, this.factors[word] ?? 0);
    // Only the upper bits depend on all bits of the words.
    let slot = (sum | 0) >>> (WORD_BITS - Math.log2(this.slots));
    while (!isFree(this.table, slot * this.width) && !this.isAt(slot * this.width, words, from))
      slot = (slot + 1) % this.slots;
    return slot * this.width;
  }

  private isAt(at: number, words: Uint32Array, from: number): boolean {
    for (let word = 0; word < WORDS; word++) if (this.table[at + word] !== words[from + word]) return false;
    return true;
  }
}

function readUuid(id: string, words: Uint32Array): void {
  if (isUuid(id)) readHex(id.replaceAll('-', ''), words);
  else words.fill(0);
}

function readHex(hex: string, words: Uint32Array): void {
  for (let word = 0; word < WORDS; word++)
    words[word] = parseInt(hex.slice(word * HEX_OF_WORD, (word + 1) * HEX_OF_WORD), 16);
}

function isFree(table: Uint32Array, at: number): boolean {
  for (let word = 0; word < WORDS; word++) if (table[at + word] !== 0) return false;
  return true;
}
