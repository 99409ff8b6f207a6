import type { RestLayout } from './entry-table.js';

/** The parts of values that have no fixed width, by entry; most entries have none. Changes can be taken back. */
export class RestTable<T> {
  private readonly rests = new Map<number, object>();
  /** What the open transaction has changed, as it was before. */
  private readonly before = new Map<number, object | undefined>();

  constructor(private readonly layout: RestLayout<T, object>) {}

  get(entry: number): object | undefined {
    return this.rests.get(entry);
  }

  put(entry: number, value: T): void {
    const rest = this.layout.of(value);
    const known = this.rests.size === 0 ? undefined : this.rests.get(entry);
    if (rest === known) return;
    if (!this.before.has(entry)) this.before.set(entry, known);
    this.set(entry, rest);
  }

  /** As put(), where nothing is to be taken back. */
  settle(entry: number, value: T): void {
    this.set(entry, this.layout.of(value));
  }

  commit(): void {
    this.before.clear();
  }

  rollback(): void {
    for (const [entry, rest] of this.before) this.set(entry, rest);
    this.before.clear();
  }

  remove(entry: number): void {
    this.rests.delete(entry);
  }

  clear(): void {
    this.rests.clear();
    this.before.clear();
  }

  /** The bytes of the struct and behind them those of the rest, if there is one; else null. */
  joined(entry: number, bytes: Uint8Array, start: number, end: number): Uint8Array | null {
    const rest = this.get(entry);
    if (rest === undefined) return null;
    const more = this.layout.toBytes(rest);
    const joined = new Uint8Array(end - start + more.length);
    joined.set(bytes.subarray(start, end));
    joined.set(more, end - start);
    return joined;
  }

  /** Takes what joined() put behind the struct. */
  load(entry: number, bytes: Uint8Array): void {
    this.set(entry, bytes.length === 0 ? undefined : this.layout.fromBytes(bytes));
  }

  private set(entry: number, rest: object | undefined): void {
    if (rest === undefined) this.rests.delete(entry);
    else this.rests.set(entry, rest);
  }
}
