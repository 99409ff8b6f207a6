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
  private readonly records: RecordBuffer;
  private recordsWritten = 0;
  private isScanned = false;
  private isAborted = false;
  /** Writes what a step has scanned; null: the previous entries are still being written. */
  private goOn: (() => void) | null = null;

  constructor(
    private readonly path: string,
    private readonly scan: EntryScan,
    header: CheckpointHeader,
  ) {
    this.records = new RecordBuffer(header.topic, header.partition, BATCH_BYTES);
    this.outcome = this.write(header, `${path}.${String(process.pid)}.tmp`);
  }

  /**
   * Writes the next entries of the store, if the previous ones are written. Call only between transactions.
   * @returns whether there are more
   */
  step(): boolean {
    if (this.isScanned || this.isAborted) return false;
    if (!this.goOn) return true;
    this.isScanned = !this.scan.next(ENTRIES_A_STEP, this.records);
    this.goOn();
    this.goOn = null;
    return !this.isScanned;
  }

  /** Writes the rest, and yields in between. The store must not change. */
  async finish(): Promise<CheckpointOutcome> {
    while (this.step()) await nextTurn();
    return this.outcome;
  }

  async abort(): Promise<void> {
    this.isAborted = true;
    this.goOn?.();
    await this.outcome;
  }

  private async write(header: CheckpointHeader, temporary: string): Promise<CheckpointOutcome> {
    let file: FileHandle | undefined;
    try {
      await mkdir(dirname(this.path), { recursive: true });
      file = await open(temporary, 'w');
      await file.writeFile(MAGIC);
      this.records.append(null, Buffer.from(JSON.stringify(header)));
      await this.writeRecords(file);
      while (!this.isScanned && !this.isAborted) {
        await new Promise<void>((resolve) => (this.goOn = resolve));
        await this.writeRecords(file);
      }
      return this.isAborted ? { type: 'aborted' } : await this.publish(file, temporary);
    } catch (error) {
      this.isAborted = true;
      return { type: 'failed', error };
    } finally {
      await file?.close().catch(() => undefined);
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  private async publish(file: FileHandle, temporary: string): Promise<CheckpointOutcome> {
    const entries = this.recordsWritten - 1;
    this.records.append(null, null);
    await this.writeRecords(file);
    await file.sync();
    const { size: bytes } = await file.stat();
    await file.close();
    await rename(temporary, this.path);
    await syncDirectory(dirname(this.path));
    return { type: 'written', entries, bytes };
  }

  private async writeRecords(file: FileHandle): Promise<void> {
    for (const batch of this.records.batches) {
      const bytes = sealRecordBatch(batch, 0, NO_PRODUCER, Infinity);
      writeInt64(bytes, this.recordsWritten, 0);
      this.recordsWritten += batch.count;
      await file.writeFile(bytes);
    }
    this.records.clear();
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
