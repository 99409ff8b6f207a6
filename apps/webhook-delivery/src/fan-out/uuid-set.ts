import { randomFillSync } from 'node:crypto';
import { isUuid } from '@waypost/domain';

/** Of 32 bits, in a UUID. */
const WORDS = 4;
const FIRST_SLOTS = 1_024;
const WORD_BITS = 32;

/**
 * UUIDs as they are: a hash in their place could take one for another. Each takes 16 bytes of a table that is between three
 * eighths and three quarters full, so 21 to 43 bytes; as strings in a Set, one takes some 80.
 */
export class UuidSet {
  private count = 0;
  private slots = FIRST_SLOTS;
  /** Nothing but zeros: a free slot. No UUID with a version is that. */
  private table = new Uint32Array(FIRST_SLOTS * WORDS);
  /** Random, so that nobody can choose ids that crowd one slot. */
  private readonly factors = randomFillSync(new Uint32Array(WORDS)).map((factor) => factor | 1);
  private readonly words = new Uint32Array(WORDS);

  get size(): number {
    return this.count;
  }

  /** Leaves out what is no UUID, as `has` does. */
  add(uuid: string): void {
    if (!this.read(uuid)) return;
    if ((this.count + 1) * 4 > this.slots * 3) this.grow();
    const at = this.find(this.words, 0);
    if (!isFree(this.table, at)) return;
    this.table.set(this.words, at);
    this.count++;
  }

  has(uuid: string): boolean {
    return this.count > 0 && this.read(uuid) && !isFree(this.table, this.find(this.words, 0));
  }

  private read(uuid: string): boolean {
    if (!isUuid(uuid)) return false;
    const hex = uuid.replaceAll('-', '');
    for (let word = 0; word < WORDS; word++) this.words[word] = parseInt(hex.slice(word * 8, word * 8 + 8), 16);
    return !isFree(this.words, 0);
  }

  private grow(): void {
    const old = this.table;
    this.slots *= 2;
    this.table = new Uint32Array(this.slots * WORDS);
    for (let from = 0; from < old.length; from += WORDS) {
      if (isFree(old, from)) continue;
      const at = this.find(old, from);
      for (let word = 0; word < WORDS; word++) this.table[at + word] = old[from + word] ?? 0;
    }
  }

  /** @returns where the UUID at `from` is in the table, or the free place for it */
  private find(words: Uint32Array, from: number): number {
    let sum = 0;
    for (let word = 0; word < WORDS; word++) sum += Math.imul(words[from + word] ?? 0, this.factors[word] ?? 0);
    // The upper bits: the upper ones of the words have no influence on the lower ones.
    let slot = (sum | 0) >>> (WORD_BITS - Math.log2(this.slots));
    while (!isFree(this.table, slot * WORDS) && !this.isAt(slot * WORDS, words, from)) slot = (slot + 1) % this.slots;
    return slot * WORDS;
  }

  private isAt(at: number, words: Uint32Array, from: number): boolean {
    for (let word = 0; word < WORDS; word++) if (this.table[at + word] !== words[from + word]) return false;
    return true;
  }
}

function isFree(table: Uint32Array, at: number): boolean {
  for (let word = 0; word < WORDS; word++) if (table[at + word] !== 0) return false;
  return true;
}
