import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntryScan, EntrySink } from '../state-store.js';
import {
  chainChecksum,
  type CheckpointHeader,
  ENTRY_HEAD_BYTES,
  MAGIC,
  sealSection,
  section,
  SECTION_HEAD_BYTES,
  trailer,
} from './checkpoint-format.js';

/** About a millisecond of the event loop. */
const ENTRIES_A_STEP = 4_096;
const FIRST_BLOCK_BYTES = 384 * 1024;

export type CheckpointOutcome =
  | { readonly type: 'written'; readonly entries: number; readonly bytes: number }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly error: unknown };

/**
 * Writes a checkpoint in steps, while the store is in use. It gets its name at the very end, when all of it is on disk:
 * a process that is killed leaves the previous checkpoint, and a `.tmp` file that is never read.
 */
export class CheckpointWriter {
  /** How it ended; never rejects. */
  readonly outcome: Promise<CheckpointOutcome>;
  private readonly temporary: string;
  private readonly block = new EntryBlock();
  private file: FileHandle | null = null;
  private written: Promise<void>;
  private busy = true;
  private scanned = false;
  private aborted = false;
  private entries = 0;
  private bytes = 0;
  private chain = 0;
  private end: (outcome: CheckpointOutcome) => void = () => undefined;

  constructor(
    private readonly path: string,
    private readonly scan: EntryScan,
    header: CheckpointHeader,
  ) {
    this.temporary = `${path}.${String(process.pid)}.tmp`;
    this.outcome = new Promise((resolve) => {
      this.end = resolve;
    });
    this.written = this.start(header).then(
      () => {
        this.busy = false;
      },
      (error: unknown) => this.fail(error),
    );
  }

  /**
   * Writes the next entries of the store, unless the previous ones are still being written. Only between transactions.
   * @returns whether there is more to come
   */
  step(): boolean {
    if (this.scanned || this.aborted) return false;
    if (this.busy) return true;
    this.block.reset();
    this.scanned = !this.scan.next(ENTRIES_A_STEP, this.block);
    this.entries += this.block.entries;
    this.busy = true;
    const bytes = this.block.sealed();
    this.chain = bytes ? chainChecksum(this.chain, bytes.readUInt32BE(4)) : this.chain;
    this.written = this.append(bytes).then(
      () => {
        this.busy = false;
      },
      (error: unknown) => this.fail(error),
    );
    return !this.scanned;
  }

  /** Writes the rest, and yields in between. The store must not change. */
  async finish(): Promise<CheckpointOutcome> {
    while (this.step()) {
      await this.written;
      await nextTurn();
    }
    return this.outcome;
  }

  async abort(): Promise<void> {
    this.aborted = true;
    await this.written;
    await this.discard({ type: 'aborted' });
  }

  private async start(header: CheckpointHeader): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    this.file = await open(this.temporary, 'w');
    await this.write(Buffer.concat([MAGIC, section(Buffer.from(JSON.stringify(header)))]));
  }

  private async append(bytes: Buffer | null): Promise<void> {
    if (bytes) await this.write(bytes);
    if (this.scanned && !this.aborted) await this.publish();
  }

  private async publish(): Promise<void> {
    await this.write(trailer(this.entries, this.chain));
    await this.file?.sync();
    await this.close();
    await rename(this.temporary, this.path);
    await syncDirectory(dirname(this.path));
    this.end({ type: 'written', entries: this.entries, bytes: this.bytes });
  }

  private async write(bytes: Buffer): Promise<void> {
    await this.file?.writeFile(bytes);
    this.bytes += bytes.length;
  }

  private async fail(error: unknown): Promise<void> {
    this.aborted = true;
    await this.discard({ type: 'failed', error });
  }

  private async discard(outcome: CheckpointOutcome): Promise<void> {
    await this.close().catch(() => undefined);
    await rm(this.temporary, { force: true }).catch(() => undefined);
    this.end(outcome);
  }

  private async close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await file?.close();
  }
}

/** A rename survives a power failure once the directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The entries of one step, as they go into the file. */
class EntryBlock implements EntrySink {
  entries = 0;
  private bytes = Buffer.allocUnsafe(FIRST_BLOCK_BYTES);
  private length = SECTION_HEAD_BYTES;

  reset(): void {
    this.entries = 0;
    this.length = SECTION_HEAD_BYTES;
  }

  entry(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    const end = this.length + ENTRY_HEAD_BYTES + keyLength + valueLength;
    if (end > this.bytes.length) this.grow(end);
    const { bytes } = this;
    let at = bytes.writeUInt16BE(keyLength, this.length);
    at = bytes.writeUInt32BE(valueLength, at);
    for (let from = keyStart; from < keyEnd; from++) bytes[at++] = key[from] as number;
    for (let from = valueStart; from < valueEnd; from++) bytes[at++] = value[from] as number;
    this.length = end;
    this.entries++;
  }

  /** null: there is none. The next reset() invalidates the buffer. */
  sealed(): Buffer | null {
    if (this.entries === 0) return null;
    const bytes = this.bytes.subarray(0, this.length);
    sealSection(bytes);
    return bytes;
  }

  private grow(length: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(length, 2 * this.bytes.length));
    this.bytes.copy(bytes);
    this.bytes = bytes;
  }
}
