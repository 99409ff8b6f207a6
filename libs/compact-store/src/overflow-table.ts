import type { OverflowLayout } from './entry-table.js';

const CHUNK_BITS = 10;
const CHUNK_ENTRIES = 1 << CHUNK_BITS;

type Chunk = (object | undefined)[];

/**
 * The variable-width parts of values, by entry; most entries have none. Changes can be rolled back. Chunks are
 * allocated on demand; a map would need three memory accesses per lookup.
 */
export class OverflowTable<T> {
  private chunks: (Chunk | undefined)[] = [];
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

  /** Joins the bytes of the struct and the overflow; null: there is no overflow. */
  joined(entry: number, bytes: Uint8Array, start: number, end: number): Uint8Array | null {
    const overflow = this.get(entry);
    if (overflow === undefined) return null;
    const more = this.layout.toBytes(overflow);
    const joined = new Uint8Array(end - start + more.length);
    joined.set(bytes.subarray(start, end));
    joined.set(more, end - start);
    return joined;
  }

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
    // get() returns the object: a processor that changed it would change committed state. Bytes cannot be frozen.
    chunk[entry & (CHUNK_ENTRIES - 1)] = ArrayBuffer.isView(overflow) ? overflow : Object.freeze(overflow);
  }
}
