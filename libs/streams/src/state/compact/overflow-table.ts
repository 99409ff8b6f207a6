import type { OverflowLayout } from './entry-table.js';

const CHUNK_BITS = 10;
const CHUNK_ENTRIES = 1 << CHUNK_BITS;

type Chunk = (object | undefined)[];

/**
 * The parts of values that have no fixed width, by entry; most entries have none. Changes can be taken back. In chunks, of which
 * only those are made that hold something: a map would look at three places in memory for each.
 */
export class OverflowTable<T> {
  private chunks: (Chunk | undefined)[] = [];
  /** What the open transaction has changed, as it was before. */
  private readonly before = new Map<number, object | undefined>();

  constructor(private readonly layout: OverflowLayout<T, object>) {}

  get(entry: number): object | undefined {
    return this.chunks[entry >>> CHUNK_BITS]?.[entry & (CHUNK_ENTRIES - 1)];
  }

  put(entry: number, value: T): void {
    const overflow = this.layout.of(value);
    const known = this.get(entry);
    if (overflow === known) return;
    if (!this.before.has(entry)) this.before.set(entry, known);
    this.set(entry, overflow);
  }

  /** As put(), where nothing is to be taken back. */
  settle(entry: number, value: T): void {
    this.set(entry, this.layout.of(value));
  }

  commit(): void {
    this.before.clear();
  }

  rollback(): void {
    for (const [entry, overflow] of this.before) this.set(entry, overflow);
    this.before.clear();
  }

  remove(entry: number): void {
    this.set(entry, undefined);
  }

  clear(): void {
    this.chunks = [];
    this.before.clear();
  }

  /** The bytes of the struct and behind them those of the overflow, if there is one; else null. */
  joined(entry: number, bytes: Uint8Array, start: number, end: number): Uint8Array | null {
    const overflow = this.get(entry);
    if (overflow === undefined) return null;
    const more = this.layout.toBytes(overflow);
    const joined = new Uint8Array(end - start + more.length);
    joined.set(bytes.subarray(start, end));
    joined.set(more, end - start);
    return joined;
  }

  /** Takes what joined() put behind the struct. */
  load(entry: number, bytes: Uint8Array): void {
    this.set(entry, bytes.length === 0 ? undefined : this.layout.fromBytes(bytes));
  }

  private set(entry: number, overflow: object | undefined): void {
    const number = entry >>> CHUNK_BITS;
    let chunk = this.chunks[number];
    if (chunk === undefined) {
      if (overflow === undefined) return;
      this.chunks[number] = chunk = Array.from<object | undefined>({ length: CHUNK_ENTRIES });
    }
    chunk[entry & (CHUNK_ENTRIES - 1)] = overflow;
  }
}
