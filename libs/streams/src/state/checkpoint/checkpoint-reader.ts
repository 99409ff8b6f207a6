import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LENGTH_AT, LOG_OVERHEAD_BYTES, scanRecordBatches } from '../../protocol/record-batch-decoder.js';
import type { StreamRecord } from '../../record.js';
import { type CheckpointHeader, MAGIC } from './checkpoint-format.js';

/**
 * Reads a checkpoint batch by batch. Only a file that is complete to its last byte counts as read.
 *
 * @param refusal returns what is wrong with the header; null: nothing
 * @returns null: there is none
 * @throws why it cannot be used: discard the entries that were already read
 */
export async function readCheckpoint(
  path: string,
  refusal: (header: CheckpointHeader) => string | null,
  take: (entries: readonly StreamRecord[]) => Promise<void>,
): Promise<CheckpointHeader | null> {
  const file = await open(path, 'r').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  });
  if (!file) return null;
  try {
    const source = new Batches(file, (await file.stat()).size);
    if (!(await source.take(MAGIC.length)).equals(MAGIC)) throw new Error('it is of another format');
    const [first] = await source.next();
    const header = JSON.parse(String(first?.value)) as CheckpointHeader;
    const reason = refusal(header);
    if (reason !== null) throw new Error(reason);
    for (let records = await source.next(); records[0]?.key !== null; records = await source.next())
      await take(records);
    if (!source.atEnd) throw new Error('its end does not fit its entries');
    return header;
  } finally {
    await file.close();
  }
}

/** Removes unfinished files of a killed process or the previous owner of the partition. */
export async function removeUnfinished(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  const unfinished = names.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp'));
  await Promise.all(unfinished.map((name) => rm(join(dirname(path), name), { force: true })));
}

/** The record batches of a file, each verified by its checksum and its place. */
class Batches {
  private position = 0;
  private offset = 0;

  constructor(
    private readonly file: FileHandle,
    private readonly size: number,
  ) {}

  get atEnd(): boolean {
    return this.position === this.size;
  }

  async take(length: number): Promise<Buffer> {
    if (this.position + length > this.size) throw new Error('it is cut off');
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.file.read(bytes, 0, length, this.position);
    if (bytesRead !== length) throw new Error('it is cut off');
    this.position += length;
    return bytes;
  }

  async next(): Promise<StreamRecord[]> {
    const head = await this.take(LOG_OVERHEAD_BYTES);
    this.position -= LOG_OVERHEAD_BYTES;
    const bytes = await this.take(LOG_OVERHEAD_BYTES + head.readUInt32BE(LENGTH_AT));
    const { nextOffset, slices } = scanRecordBatches(bytes, this.offset, []);
    const [records = []] = slices(Infinity);
    // The checksum covers neither the number of the first record nor the field that only brokers use.
    const isInPlace = records[0]?.offset === this.offset && bytes.readInt32BE(LOG_OVERHEAD_BYTES) === -1;
    if (!isInPlace) throw new Error('a part of it is not where it belongs');
    this.offset = nextOffset;
    return records;
  }
}
