import { StreamsError } from '../errors.js';
import { rangeOf, type StreamRecord } from '../record.js';
import {
  type ChangeSink,
  type EntryScan,
  type ReadOnlyKeyValueStore,
  type Serde,
  type StateStore,
  type StoreDefinition,
  type StoreOptions,
} from './state-store.js';

export interface KeyValueStore<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
  /** Yields all entries, uncommitted ones included, in no particular order. The store may change during it. */
  entries(): Iterable<readonly [string, T]>;
  readOnly(): ReadOnlyKeyValueStore<T>;
}

export interface KeyValueStoreOptions<T> extends StoreOptions<T> {
  /**
   * An entry expires when the stream time is this much later than at its last put; default: never. From that record on
   * it cannot be read, and later a tombstone follows. Changelog values end with their time, so an existing store needs
   * a new changelog to get a time to live.
   */
  readonly timeToLiveMs?: number | undefined;
}

/**
 * A store of any values under string keys. Values are copied in and out: changing one that was read or put changes
 * nothing here, so nothing survives an aborted transaction. A get() costs one deserialization, about 0.8 us for 100
 * bytes of JSON. For millions of keys: @waypost/compact-store.
 */
export function keyValueStore<T>(options: KeyValueStoreOptions<T>): StoreDefinition<KeyValueStore<T>> {
  const { serde, timeToLiveMs, ...changelog } = options;
  if (timeToLiveMs === undefined) return { ...changelog, createStore: () => new MapStore(serde) };
  if (!(timeToLiveMs > 0)) throw new StreamsError('INVALID_TOPOLOGY', 'timeToLiveMs must be greater than 0.');
  return { ...changelog, createStore: () => new ExpiringStore(serde, timeToLiveMs) };
}

/** Keeps changes apart from the committed entries until the commit. All values are changelog bytes. */
class MapStore<T> implements StateStore, KeyValueStore<T> {
  readonly checkpointFormat = 'changelog-values';
  protected readonly committed = new Map<string, Buffer>();
  protected readonly changed = new Map<string, Buffer | null>();

  constructor(private readonly serde: Serde<T>) {}

  get size(): number {
    let { size } = this.committed;
    for (const [key, value] of this.changed) size += Number(value !== null) - Number(this.committed.has(key));
    return size;
  }

  get changeCount(): number {
    return this.changed.size;
  }

  get(key: string): T | undefined {
    return this.valueOf(this.changed.has(key) ? this.changed.get(key) : this.committed.get(key));
  }

  /** Copies the bytes, since a serde may return a view of them. */
  protected valueOf(bytes: Buffer | null | undefined): T | undefined {
    return bytes ? this.serde.deserialize(Buffer.from(bytes)) : undefined;
  }

  put(key: string, value: T): void {
    // A record's Buffer would never be found again.
    if (typeof key !== 'string') throw new TypeError('The keys of a key-value store are strings.');
    this.changed.set(key, this.bytesOf(value));
  }

  protected bytesOf(value: T): Buffer {
    const { bytes, start, end } = rangeOf(this.serde.serialize(value));
    return Buffer.from(bytes.subarray(start, end));
  }

  delete(key: string): void {
    this.changed.set(key, null);
  }

  /** Copies only the keys that are added and not committed: those that a caller adds during it are not walked over. */
  entries(): Iterable<readonly [string, T]> {
    const added = [...this.changed.keys()].filter((key) => !this.committed.has(key));
    return present([this.committed.keys(), added], (key) => this.get(key));
  }

  writeChanges(into: ChangeSink): void {
    for (const [key, value] of this.changed) {
      const bytes = Buffer.from(key);
      into.appendRanges(bytes, 0, bytes.length, value, 0, value?.length ?? 0);
    }
  }

  commit(): void {
    for (const [key, value] of this.changed) {
      if (value === null) this.committed.delete(key);
      else this.committed.set(key, value);
    }
    this.changed.clear();
  }

  rollback(): void {
    this.changed.clear();
  }

  restore({ key, value }: StreamRecord): void {
    if (!key) return;
    if (value === null) this.committed.delete(key.toString());
    // Copies the value, since it would keep the whole fetched batch.
    else this.committed.set(key.toString(), Buffer.from(value));
  }

  clear(): void {
    this.committed.clear();
    this.changed.clear();
  }

  readOnly(): ReadOnlyKeyValueStore<T> {
    const { committed } = this;
    return {
      get: (key) => this.valueOf(committed.get(key)),
      entries: () => present([committed.keys()], (key) => this.valueOf(committed.get(key))),
    };
  }

  scan(): EntryScan {
    const entries = this.committed.entries();
    return {
      next: (limit, sink) => {
        for (let given = 0; given < limit; given++) {
          const next = entries.next();
          if (next.done === true) return false;
          const key = Buffer.from(next.value[0]);
          const value = next.value[1];
          sink.appendRanges(key, 0, key.length, value, 0, value.length);
        }
        return true;
      },
    };
  }

  load(entry: StreamRecord): void {
    this.restore(entry);
  }
}

function* present<T>(
  keys: readonly Iterable<string>[],
  get: (key: string) => T | undefined,
): Generator<readonly [string, T]> {
  for (const some of keys)
    for (const key of some) {
      const value = get(key);
      if (value !== undefined) yield [key, value];
    }
}

/** Follows a value: the stream time of its put as a double, and a byte in which no JSON ends. */
const TIME_BYTES = 9;
const TIMED = 0xe7;
const LOOKED_AT_AT_LEAST = 1_000;
/** Must exceed the growth: every record may add a key. */
const LOOKED_AT_PER_PUT = 4;
const PASSES_PER_LIFE = 16;

/**
 * Hides expired entries from the processor at once, by stream time alone, so that the processor is a function of the
 * records. They are deleted in passes over the store, some entries after each slice.
 */
class ExpiringStore<T> extends MapStore<T> {
  private nowMs = -Infinity;
  private pass: { readonly untilMs: number; readonly entries: Iterator<[string, Buffer]> } | null = null;
  /** Everything that had expired by then is deleted. */
  private passedMs = -Infinity;
  /** The stream time of the first put of the open transaction. */
  private changedSinceMs = -Infinity;
  private puts = 0;

  constructor(
    serde: Serde<T>,
    private readonly timeToLiveMs: number,
  ) {
    super(serde);
  }

  advanceTo(streamTimeMs: number): void {
    this.nowMs = streamTimeMs;
  }

  expire(): void {
    const limit = Math.max(LOOKED_AT_AT_LEAST, LOOKED_AT_PER_PUT * this.puts);
    this.puts = 0;
    if (!this.pass && this.nowMs < this.passedMs + this.timeToLiveMs / PASSES_PER_LIFE) return;
    this.pass ??= { untilMs: this.passableMs(), entries: this.committed.entries() };
    for (let looked = 0; looked < limit; looked++) {
      const next = this.pass.entries.next();
      if (next.done === true) {
        this.passedMs = this.pass.untilMs;
        this.pass = null;
        return;
      }
      const [key, bytes] = next.value;
      const current = this.changed.has(key) ? this.changed.get(key) : bytes;
      if (current && this.isOver(current)) this.delete(key);
    }
  }

  /** A pass walks over committed entries, so it misses those of the open transaction, however long that takes. */
  private passableMs(): number {
    return this.changed.size === 0 ? this.nowMs : Math.min(this.nowMs, this.changedSinceMs + this.timeToLiveMs - 1);
  }

  override rollback(): void {
    super.rollback();
    this.restartPass();
  }

  override clear(): void {
    super.clear();
    this.restartPass();
  }

  override restore(record: StreamRecord): void {
    super.restore(record);
    this.restartPass();
  }

  private restartPass(): void {
    this.pass = null;
    this.passedMs = -Infinity;
  }

  protected override bytesOf(value: T): Buffer {
    if (this.changed.size === 0) this.changedSinceMs = this.nowMs;
    this.puts++;
    const time = Buffer.alloc(TIME_BYTES, TIMED);
    // punctuate() put it before the first record of the partition: there is no time to count from.
    time.writeDoubleBE(this.nowMs === -Infinity ? Infinity : this.nowMs);
    return Buffer.concat([super.bytesOf(value), time]);
  }

  protected override valueOf(bytes: Buffer | null | undefined): T | undefined {
    return bytes && !this.isOver(bytes) ? super.valueOf(bytes.subarray(0, -TIME_BYTES)) : undefined;
  }

  private isOver(bytes: Buffer): boolean {
    if (bytes.length < TIME_BYTES || bytes.at(-1) !== TIMED) {
      const message =
        'A value of a changelog has no time: give a store that gets a time to live another changelogTopic.';
      throw new StreamsError('CORRUPT_STATE', message);
    }
    return bytes.readDoubleBE(bytes.length - TIME_BYTES) + this.timeToLiveMs <= this.nowMs;
  }
}
