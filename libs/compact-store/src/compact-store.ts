import {
  type ChangeSink,
  type EntryScan,
  rangeOf,
  type Serde,
  type StateStore,
  type StoreDefinition,
  type StoreOptions,
  type StreamRecord,
} from '@waypost/streams';
import { EntryTable, type StructLayout, UndoLog } from './entry-table.js';
import { KeyArena } from './key-arena.js';
import { KeyBuilder } from './key-builder.js';
import { OverflowTable } from './overflow-table.js';
import { hashWords, type KeyHash, SlotTable } from './slot-table.js';

/** A store for millions of keys. Looking a key up and then changing it costs one search. */
export interface CompactStore<T, View extends T = T> {
  get(key: KeyBuilder): View | undefined;
  /** Returns the value for changes of its bytes in place; the variable-width part must stay as it is. */
  edit(key: KeyBuilder): View | undefined;
  put(key: KeyBuilder, value: T): void;
  delete(key: KeyBuilder): void;
}

export interface CompactStoreOptions<T, View extends T = T> extends StoreOptions<T> {
  readonly layout: StructLayout<T, object, View>;
}

/**
 * A store of fixed-width values under byte keys without an object per entry: a value of 41 bytes needs at most 64 bytes
 * beside the key. A variable-width part is an object (see OverflowLayout).
 */
export function compactStore<T, View extends T = T>({
  layout,
  serde,
  ...changelog
}: CompactStoreOptions<T, View>): StoreDefinition<CompactStore<T, View>> {
  return { ...changelog, createStore: () => new HashStore({ layout, serde }) };
}

interface CompactStoreDeps<T, View extends T = T> {
  readonly layout: StructLayout<T, object, View>;
  readonly serde: Serde<T>;
  /** For tests: another hash makes keys collide. */
  readonly hash?: KeyHash;
}

const ABSENT = -1;
/** A wrong guess must not cost more memory than this many four-byte slots. */
const MAX_EXPECTED_ENTRIES = 4_000_000;

/**
 * Values are changed in place; before its first change in a transaction an entry goes into the undo log. Entries
 * deleted by a transaction stay in the table, not live, until it is committed.
 */
export class HashStore<T, View extends T = T> implements StateStore, CompactStore<T, View> {
  readonly checkpointFormat: string;
  size = 0;
  private readonly layout: StructLayout<T, object, View>;
  private readonly serde: Serde<T>;
  private readonly hash: KeyHash;
  private readonly keys = new KeyArena();
  private readonly slots = new SlotTable();
  private readonly entries: EntryTable;
  private readonly undo: UndoLog;
  /** null: every value has the fixed width. */
  private readonly overflows: OverflowTable<T> | null;
  private readonly restoredKey = new KeyBuilder();

  /** The last search: a put() right after a get() of the same key need not search again. */
  private foundKey: KeyBuilder | null = null;
  private foundRevision = -1;
  private foundLength = -1;
  private foundEntry = ABSENT;
  /** Where the search ended, if it found no entry. */
  private foundSlot = 0;
  private foundHash = 0;

  constructor({ layout, serde, hash = hashWords }: CompactStoreDeps<T, View>) {
    this.layout = layout;
    this.serde = serde;
    this.hash = hash;
    this.entries = new EntryTable(layout.byteLength);
    this.undo = new UndoLog(this.entries);
    this.overflows = layout.overflow ? new OverflowTable(layout.overflow) : null;
    this.checkpointFormat = `struct-${String(layout.byteLength)}-${layout.version}`;
  }

  get changeCount(): number {
    return this.undo.count;
  }

  get bufferBytes(): number {
    return this.entries.bufferBytes + this.slots.slots.byteLength + this.keys.bufferBytes + this.undo.bufferBytes;
  }

  get(key: KeyBuilder): View | undefined {
    const entry = this.find(key);
    if (entry === ABSENT || !this.entries.isLive(entry)) return undefined;
    return this.valueOf(entry);
  }

  edit(key: KeyBuilder): View | undefined {
    const entry = this.find(key);
    if (entry === ABSENT || !this.entries.isLive(entry)) return undefined;
    this.touch(entry);
    this.entries.setFlags(entry, true, true);
    return this.valueOf(entry);
  }

  put(key: KeyBuilder, value: T): void {
    let entry = this.find(key);
    if (entry === ABSENT) entry = this.add(key);
    this.touch(entry);
    const wasLive = this.entries.isLive(entry);
    if (!wasLive) this.size++;
    this.entries.setFlags(entry, true, true);
    const view = this.entries.viewOf(entry);
    const at = this.entries.valueAt(entry);
    const mayHaveOverflow = this.overflows !== null && (!wasLive || this.hasOverflow(view, at));
    this.layout.write(view, at, value);
    if (this.overflows && (mayHaveOverflow || this.hasOverflow(view, at))) this.overflows.put(entry, value);
  }

  delete(key: KeyBuilder): void {
    const entry = this.find(key);
    if (entry === ABSENT || !this.entries.isLive(entry)) return;
    this.touch(entry);
    this.entries.setFlags(entry, false, true);
    this.size--;
  }

  writeChanges(into: ChangeSink): void {
    const { entries, keys, undo, serde } = this;
    for (let index = 0; index < undo.count; index++) {
      const entry = undo.entryAt(index);
      const keyAt = entries.keyAt(entry);
      const keyStart = keys.startOf(keyAt) << 2;
      const keyEnd = keyStart + entries.keyLength(entry);
      if (entries.isLive(entry)) {
        const { bytes, start, end } = rangeOf(serde.serialize(this.valueOf(entry)));
        into.appendRanges(keys.bytesAt(keyAt), keyStart, keyEnd, bytes, start, end);
      } else {
        into.appendRanges(keys.bytesAt(keyAt), keyStart, keyEnd, null, 0, 0);
      }
    }
  }

  commit(): void {
    for (let index = 0; index < this.undo.count; index++) {
      const entry = this.undo.entryAt(index);
      if (this.entries.isLive(entry)) this.entries.setFlags(entry, true, false);
      else this.remove(entry);
    }
    this.undo.forget();
    this.overflows?.commit();
  }

  rollback(): void {
    this.overflows?.rollback();
    for (let index = 0; index < this.undo.count; index++) {
      const entry = this.undo.entryAt(index);
      if (this.entries.isLive(entry)) this.size--;
      this.undo.putBack(index);
      if (this.entries.isLive(entry)) this.size++;
      else this.remove(entry);
    }
    this.undo.forget();
  }

  restore(record: StreamRecord): void {
    if (record.keyStart < 0) return;
    const key = this.restoredKey.reset().append(record.bytes, record.keyStart, record.keyEnd);
    this.settle(key, record.valueStart < 0 ? undefined : this.deserialize(record));
  }

  private deserialize(record: StreamRecord): T {
    const { serde } = this;
    return serde.deserializeRange
      ? serde.deserializeRange(record.bytes, record.valueStart, record.valueEnd)
      : serde.deserialize(record.value as Buffer);
  }

  expect(entries: number): void {
    const places = Math.min(entries, MAX_EXPECTED_ENTRIES);
    if (!this.slots.holds(places)) this.growSlots(places);
  }

  clear(): void {
    this.size = 0;
    this.foundKey = null;
    this.keys.clear();
    this.slots.clear();
    this.entries.clear();
    this.overflows?.clear();
    this.undo.forget();
  }

  scan(): EntryScan {
    const { entries, keys, overflows } = this;
    let entry = 0;
    return {
      next: (limit, sink) => {
        for (let given = 0; entry < entries.count && given < limit; entry++) {
          if (!entries.isLive(entry)) continue;
          const keyAt = entries.keyAt(entry);
          const keyStart = keys.startOf(keyAt) << 2;
          const keyEnd = keyStart + entries.keyLength(entry);
          const bytes = entries.bytesOf(entry);
          const valueAt = entries.valueAt(entry);
          const valueEnd = valueAt + entries.valueBytes;
          const joined = overflows?.joined(entry, bytes, valueAt, valueEnd);
          if (joined) sink.appendRanges(keys.bytesAt(keyAt), keyStart, keyEnd, joined, 0, joined.length);
          else sink.appendRanges(keys.bytesAt(keyAt), keyStart, keyEnd, bytes, valueAt, valueEnd);
          given++;
        }
        return entry < entries.count;
      },
    };
  }

  load({ bytes, keyStart, keyEnd, valueStart, valueEnd }: StreamRecord): void {
    const entry = this.settledEntry(this.restoredKey.reset().append(bytes, keyStart, keyEnd));
    const into = this.entries.bytesOf(entry);
    const structEnd = this.overflows ? valueStart + this.entries.valueBytes : valueEnd;
    for (let from = valueStart, at = this.entries.valueAt(entry); from < structEnd; from++, at++) {
      into[at] = bytes[from] as number;
    }
    this.overflows?.load(entry, bytes.subarray(structEnd, valueEnd));
  }

  private settle(key: KeyBuilder, value: T | undefined): void {
    if (value !== undefined) {
      const entry = this.settledEntry(key);
      this.layout.write(this.entries.viewOf(entry), this.entries.valueAt(entry), value);
      this.overflows?.settle(entry, value);
      return;
    }
    const entry = this.find(key);
    if (entry === ABSENT) return;
    this.size--;
    this.remove(entry);
  }

  /** The entry of a key in the committed state, created if needed. */
  private settledEntry(key: KeyBuilder): number {
    const found = this.find(key);
    if (found !== ABSENT) return found;
    const entry = this.add(key);
    this.entries.setFlags(entry, true, false);
    this.size++;
    return entry;
  }

  private touch(entry: number): void {
    if (!this.entries.isDirty(entry)) this.undo.note(entry);
  }

  private find(key: KeyBuilder): number {
    if (this.foundKey === key && this.foundRevision === key.revision && this.foundLength === key.length) {
      return this.foundEntry;
    }
    const { slots } = this;
    const wordCount = key.seal();
    const hash = this.hash(key.words, 0, wordCount);
    let entry = ABSENT;
    let slot = hash & slots.mask;
    while (!slots.isEmpty(slot)) {
      const candidate = slots.candidate(slot, hash);
      if (candidate >= 0 && this.hasKey(candidate, key, wordCount)) {
        entry = candidate;
        break;
      }
      slot = (slot + 1) & slots.mask;
    }
    this.foundKey = key;
    this.foundRevision = key.revision;
    this.foundLength = key.length;
    this.foundEntry = entry;
    this.foundSlot = slot;
    this.foundHash = hash;
    return entry;
  }

  private hasKey(entry: number, key: KeyBuilder, wordCount: number): boolean {
    if (this.entries.keyLength(entry) !== key.length) return false;
    const keyAt = this.entries.keyAt(entry);
    const words = this.keys.wordsAt(keyAt);
    const start = this.keys.startOf(keyAt);
    for (let i = 0; i < wordCount; i++) if (words[start + i] !== key.words[i]) return false;
    return true;
  }

  /** Call after a find() that found nothing: the entry goes where that search ended. */
  private add(key: KeyBuilder): number {
    if (this.slots.full) {
      this.growSlots(0);
      this.find(key);
    }
    const entry = this.entries.add(this.keys.add(key, (key.length + 3) >>> 2), key.length);
    this.slots.occupy(this.foundSlot, entry, this.foundHash);
    this.foundEntry = entry;
    return entry;
  }

  /** Follows the order of the entries, not of the slots: this reads memory sequentially. */
  private growSlots(entries: number): void {
    this.foundKey = null;
    this.slots.grow(entries);
    for (let entry = 0; entry < this.entries.count; entry++) {
      if (this.entries.isUsed(entry)) this.slots.place(entry, this.hashOf(entry));
    }
  }

  private remove(entry: number): void {
    this.foundKey = null;
    this.slots.remove(entry, this.hashOf);
    this.keys.remove(this.entries.keyAt(entry), (this.entries.keyLength(entry) + 3) >>> 2);
    this.entries.remove(entry);
    this.overflows?.remove(entry);
  }

  private valueOf(entry: number): View {
    const view = this.entries.viewOf(entry);
    const at = this.entries.valueAt(entry);
    return this.layout.read(
      view,
      at,
      this.overflows && this.hasOverflow(view, at) ? this.overflows.get(entry) : undefined,
    );
  }

  /** Checks a flag first, which spares most values the lookup. */
  private hasOverflow(view: DataView, at: number): boolean {
    return this.layout.overflow?.isPresent(view, at) === true;
  }

  private readonly hashOf = (entry: number): number => {
    const keyAt = this.entries.keyAt(entry);
    return this.hash(this.keys.wordsAt(keyAt), this.keys.startOf(keyAt), (this.entries.keyLength(entry) + 3) >>> 2);
  };
}
