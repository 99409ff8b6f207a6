import { KeyedHash } from './keyed-hash.js';

/** An entry holds both halves of the hash of a device id, and the number of an owner that names it. */
const WORDS = 3;
const MAX_UNMERGED = 256;

/**
 * Finds the owners (subscriptions) that name a device, for tens of millions of device ids: 12 bytes per id of an owner,
 * and lookups that hardly depend on their number. An id is kept as a keyed 64-bit hash (decision 0040).
 */
export class DeviceIndex<Owner> {
  private readonly shards: readonly Shard[];
  private readonly ownerByNumber: (Owner | undefined)[] = [];
  private readonly entriesByNumber: number[] = [];
  private readonly freeNumbers: number[] = [];
  private readonly hash = new KeyedHash();
  private readonly entry = new Uint32Array(WORDS);

  constructor(shards: number) {
    this.shards = Array.from({ length: shards }, () => new Shard(this.keepEntry));
  }

  /**
   * @param group the same id in another group is another device
   * @returns the number for `remove`
   */
  add(group: number, deviceIds: readonly string[], owner: Owner): number {
    const number = this.freeNumbers.pop() ?? this.ownerByNumber.length;
    const distinctIds = new Set(deviceIds);
    this.ownerByNumber[number] = owner;
    this.entriesByNumber[number] = distinctIds.size;
    for (const deviceId of distinctIds) {
      this.hash.hash(this.entry, group, deviceId);
      this.entry[2] = number;
      this.shardOf(this.entry).add(this.entry);
    }
    return number;
  }

  /** The entries are dropped when others are merged with them; until then the number is not reused. */
  remove(number: number): void {
    this.ownerByNumber[number] = undefined;
    if (this.entriesByNumber[number] === 0) this.freeNumbers.push(number);
  }

  find(group: number, deviceId: string): Owner[] {
    const found: Owner[] = [];
    this.hash.hash(this.entry, group, deviceId);
    this.shardOf(this.entry).find(this.entry, (number) => {
      const owner = this.ownerByNumber[number];
      if (owner !== undefined) found.push(owner);
    });
    return found;
  }

  private shardOf(entry: Uint32Array): Shard {
    const shard = this.shards[(entry[1] ?? 0) % this.shards.length];
    if (shard === undefined) throw new Error('The device index has no shard for this word.');
    return shard;
  }

  private readonly keepEntry = (number: number): boolean => {
    if (this.ownerByNumber[number] !== undefined) return true;
    const left = (this.entriesByNumber[number] ?? 0) - 1;
    this.entriesByNumber[number] = left;
    if (left === 0) this.freeNumbers.push(number);
    return false;
  };
}

/**
 * Runs of entries, each sorted by the first word and more than twice as long as the next (the logarithmic method).
 * Adding an entry costs some merging now and then, never a rebuild, and no space is wasted.
 */
class Shard {
  private readonly runs: Uint32Array[] = [];
  private readonly latest = new Uint32Array(MAX_UNMERGED * WORDS);
  private latestCount = 0;

  constructor(private readonly keep: (owner: number) => boolean) {}

  add(entry: Uint32Array): void {
    const { latest } = this;
    const at = lowerBound(latest, this.latestCount, entry[0] ?? 0) * WORDS;
    latest.copyWithin(at + WORDS, at, this.latestCount * WORDS);
    latest.set(entry, at);
    this.latestCount += 1;
    if (this.latestCount < MAX_UNMERGED) return;
    this.latestCount = 0;
    let run = latest.slice();
    for (let last = this.runs.at(-1); last !== undefined && last.length <= 2 * run.length; last = this.runs.at(-1)) {
      this.runs.pop();
      run = merge(last, run, this.keep);
    }
    this.runs.push(run);
  }

  find(entry: Uint32Array, onOwner: (number: number) => void): void {
    scan(this.latest, this.latestCount, entry, onOwner);
    for (const run of this.runs) scan(run, run.length / WORDS, entry, onOwner);
  }
}

function scan(run: Uint32Array, count: number, entry: Uint32Array, onOwner: (number: number) => void): void {
  const [first = 0, second = 0] = entry;
  for (let n = lowerBound(run, count, first); n < count && run[n * WORDS] === first; n++) {
    if (run[n * WORDS + 1] === second) onOwner(run[n * WORDS + 2] ?? 0);
  }
}

/** The index of the first entry whose first word is at least the given one. */
function lowerBound(run: Uint32Array, count: number, first: number): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((run[middle * WORDS] ?? 0) < first) from = middle + 1;
    else to = middle;
  }
  return from;
}

function merge(a: Uint32Array, b: Uint32Array, keep: (owner: number) => boolean): Uint32Array<ArrayBuffer> {
  const merged = new Uint32Array(a.length + b.length);
  let [fromA, fromB, length] = [0, 0, 0];
  while (fromA < a.length || fromB < b.length) {
    const isFromA = fromB >= b.length || (fromA < a.length && (a[fromA] ?? 0) <= (b[fromB] ?? 0));
    const source = isFromA ? a : b;
    const at = isFromA ? fromA : fromB;
    if (keep(source[at + 2] ?? 0)) {
      for (let word = 0; word < WORDS; word++) merged[length + word] = source[at + word] ?? 0;
      length += WORDS;
    }
    if (isFromA) fromA += WORDS;
    else fromB += WORDS;
  }
  return length === merged.length ? merged : merged.slice(0, length);
}
