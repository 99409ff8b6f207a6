const FIRST_SLOTS = 64;
const MAX_LOAD = 0.7;
const ENTRY_BITS = 26;
const ENTRY_MASK = (1 << ENTRY_BITS) - 1;
const MAX_ENTRIES = ENTRY_MASK;
const EMPTY = 0;

type HashOfEntry = (entry: number) => number;

/**
 * The slots of a hash table with open addressing and linear probing. A slot holds an entry's number plus one, and above
 * it six bits of the hash, which avoid nearly all comparisons with other keys.
 */
export class SlotTable {
  slots: Int32Array = new Int32Array(0);
  mask = 0;
  private used = 0;
  private maxUsed = 0;

  constructor() {
    this.clear();
  }

  /** The entry in a slot if its hash bits match; -1: they do not. The slot must not be empty. */
  candidate(slot: number, hash: number): number {
    const held = this.slots[slot] as number;
    return (held ^ hash) >>> ENTRY_BITS === 0 ? (held & ENTRY_MASK) - 1 : -1;
  }

  isEmpty(slot: number): boolean {
    return this.slots[slot] === EMPTY;
  }

  get full(): boolean {
    return this.used >= this.maxUsed;
  }

  /** Fills an empty slot that a probe for `hash` has ended at. */
  occupy(slot: number, entry: number, hash: number): void {
    this.slots[slot] = slotValue(entry, hash);
    this.used++;
  }

  holds(entries: number): boolean {
    return entries <= this.maxUsed;
  }

  /** Empties the table: every entry must be inserted again. Slots found before are invalid. */
  grow(entries: number): void {
    let length = this.slots.length * 2;
    while (length * MAX_LOAD < entries) length *= 2;
    if (length * MAX_LOAD > MAX_ENTRIES) throw new TypeError('A compact store holds at most 67 million entries.');
    this.empty(length);
  }

  place(entry: number, hash: number): void {
    let slot = hash & this.mask;
    while (this.slots[slot] !== EMPTY) slot = (slot + 1) & this.mask;
    this.occupy(slot, entry, hash);
  }

  /** Removes an entry and closes the gap, so that probes never meet dead slots. Slots found before are invalid. */
  remove(entry: number, hashOf: HashOfEntry): void {
    const { slots, mask } = this;
    let gap = hashOf(entry) & mask;
    while (((slots[gap] as number) & ENTRY_MASK) !== entry + 1) gap = (gap + 1) & mask;
    for (let slot = (gap + 1) & mask; slots[slot] !== EMPTY; slot = (slot + 1) & mask) {
      const held = slots[slot] as number;
      const home = hashOf((held & ENTRY_MASK) - 1) & mask;
      // The entry may move into the gap unless its home is after the gap: a probe would no longer find it.
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      slots[gap] = held;
      gap = slot;
    }
    slots[gap] = EMPTY;
    this.used--;
  }

  clear(): void {
    this.empty(FIRST_SLOTS);
  }

  private empty(length: number): void {
    this.slots = new Int32Array(length);
    this.mask = length - 1;
    this.maxUsed = Math.floor(length * MAX_LOAD);
    this.used = 0;
  }
}

function slotValue(entry: number, hash: number): number {
  return (hash & ~ENTRY_MASK) | (entry + 1);
}

/** A hash of `count` words from `start` on. The last word is padded with zeros. */
export type KeyHash = (words: Int32Array, start: number, count: number) => number;

/** The mixing of murmur3: a few multiplications per four bytes, and every bit of the key affects every bit. */
export const hashWords: KeyHash = (words, start, count) => {
  let hash = count;
  for (let at = start; at < start + count; at++) {
    let word = Math.imul(words[at] as number, 0xcc9e2d51);
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash ^= word;
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
};
