import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeInt64 } from '../../protocol/bytes.js';
import { sealRecordBatch } from '../../protocol/record-batch-encoder.js';
import { RecordBuffer } from '../../protocol/record-collector.js';
import type { EntryScan } from '../state-store.js';
import { type CheckpointHeader, MAGIC } from './checkpoint-format.js';

/** About a millisecond of the event loop. */
const ENTRIES_A_STEP = 4_096;
const BATCH_BYTES = 512 * 1024;
const NO_PRODUCER = { producerId: -1, producerEpoch: -1, baseSequence: -1, isTransactional: false };

export type CheckpointOutcome =
  | { readonly type: 'written'; readonly entries: number; readonly bytes: number }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly error: unknown };

/**
 * Writes a checkpoint in steps, while the store is in use. The file gets its name at the very end, when all of it is on
 * disk: a killed process leaves the previous checkpoint, and a `.tmp` file that is never read.
 */
export class CheckpointWriter {
  /** How it ended; never rejects. */
  readonly outcome: Promise<CheckpointOutcome>;
  private readonly temporary: string;
  private readonly records: RecordBuffer;
  private file: FileHandle | null = null;
  private written: Promise<void>;
  private busy = false;
  private scanned = false;
  private aborted = false;
  private recordsWritten = 0;
  private bytes = 0;
  private end: (outcome: CheckpointOutcome) => void = () => undefined;

  constructor(
    private readonly path: string,
    private readonly scan: EntryScan,
    header: CheckpointHeader,
  ) {
    this.records = new RecordBuffer(header.topic, header.partition, BATCH_BYTES);
    this.temporary = `${path}.${String(process.pid)}.tmp`;
    this.outcome = new Promise((resolve) => {
      this.end = resolve;
    });
    this.written = this.whileBusy(this.start(header));
  }

  /**
   * Writes the next entries of the store, if the previous ones are written. Call only between transactions.
   * @returns whether there are more
   */
  step(): boolean {
    if (this.scanned || this.aborted) return false;
    if (this.busy) return true;
    this.scanned = !this.scan.next(ENTRIES_A_STEP, this.records);
    this.written = this.whileBusy(this.append());
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

  private async whileBusy(work: Promise<void>): Promise<void> {
    this.busy = true;
    await work.then(
      () => (this.busy = false),
      (error: unknown) => this.fail(error),
    );
  }

  private async start(header: CheckpointHeader): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    this.file = await open(this.temporary, 'w');
    await this.write(MAGIC);
    this.records.append(null, Buffer.from(JSON.stringify(header)));
    await this.writeRecords();
  }

  private async append(): Promise<void> {
    await this.writeRecords();
    if (this.scanned && !this.aborted) await this.publish();
  }

  private async publish(): Promise<void> {
    const entries = this.recordsWritten - 1;
    this.records.append(null, null);
    await this.writeRecords();
    await this.file?.sync();
    await this.close();
    await rename(this.temporary, this.path);
    await syncDirectory(dirname(this.path));
    this.end({ type: 'written', entries, bytes: this.bytes });
  }

  private async writeRecords(): Promise<void> {
    for (const batch of this.records.batches) {
      const bytes = sealRecordBatch(batch, 0, NO_PRODUCER, Infinity);
      writeInt64(bytes, this.recordsWritten, 0);
      this.recordsWritten += batch.count;
      await this.write(bytes);
    }
    this.records.clear();
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
