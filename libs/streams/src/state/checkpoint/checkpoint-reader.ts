import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorMessage } from '../../errors.js';
import { FetchedRecord } from '../../record.js';
import {
  chainChecksum,
  type CheckpointHeader,
  ENTRY_HEAD_BYTES,
  MAGIC,
  SECTION_HEAD_BYTES,
  TRAILER_BYTES,
} from './checkpoint-format.js';

export type CheckpointReading =
  | { readonly type: 'read'; readonly header: CheckpointHeader; readonly entries: number }
  | { readonly type: 'absent' }
  /** Unusable. The entries that were already read must be discarded. */
  | { readonly type: 'unusable'; readonly reason: string };

/** Why a checkpoint cannot be used; not a bug. */
class Unusable extends Error {}

/**
 * Reads a checkpoint block by block. Only a file that is complete to its last byte counts as read.
 *
 * @param refusal returns what is wrong with the header; null: nothing
 */
export async function readCheckpoint(
  path: string,
  refusal: (header: CheckpointHeader) => string | null,
  take: (entries: readonly FetchedRecord[]) => Promise<void>,
): Promise<CheckpointReading> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (!file) return { type: 'absent' };
  try {
    const source = new Sections(file, (await file.stat()).size);
    const header = await readHeader(source);
    const reason = refusal(header);
    if (reason !== null) throw new Unusable(reason);
    return { type: 'read', header, entries: await readEntries(source, take) };
  } catch (error) {
    if (error instanceof Unusable) return { type: 'unusable', reason: error.message };
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes what a killed process, or the previous owner of the partition, left unfinished. */
export async function removeUnfinished(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => []);
  const unfinished = names.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp'));
  await Promise.all(unfinished.map((name) => rm(join(dirname(path), name), { force: true })));
}

async function readHeader(source: Sections): Promise<CheckpointHeader> {
  if (!(await source.take(MAGIC.length)).equals(MAGIC)) throw new Unusable('it is of another format');
  const { payload } = await source.section();
  try {
    return JSON.parse(payload.toString()) as CheckpointHeader;
  } catch (error) {
    throw new Unusable(`its header is unreadable: ${errorMessage(error)}`);
  }
}

async function readEntries(
  source: Sections,
  take: (entries: readonly FetchedRecord[]) => Promise<void>,
): Promise<number> {
  let chain = 0;
  let entries = 0;
  for (;;) {
    const { payload, checksum } = await source.section();
    if (payload.length === 0) break;
    chain = chainChecksum(chain, checksum);
    const records = entriesOf(payload);
    entries += records.length;
    await take(records);
  }
  const { payload } = await source.section();
  const whole = payload.length === TRAILER_BYTES && source.atEnd;
  if (!whole || payload.readDoubleBE(0) !== entries || payload.readUInt32BE(8) !== chain) {
    throw new Unusable('its end does not fit its entries');
  }
  return entries;
}

function entriesOf(payload: Buffer): FetchedRecord[] {
  const records: FetchedRecord[] = [];
  let at = 0;
  while (at < payload.length) {
    if (payload.length - at < ENTRY_HEAD_BYTES) throw new Unusable('an entry is cut off');
    const keyStart = at + ENTRY_HEAD_BYTES;
    const keyEnd = keyStart + payload.readUInt16BE(at);
    const valueEnd = keyEnd + payload.readUInt32BE(at + 2);
    if (valueEnd > payload.length) throw new Unusable('an entry is cut off');
    records.push(new FetchedRecord(0, 0, payload, keyStart, keyEnd, keyEnd, valueEnd));
    at = valueEnd;
  }
  return records;
}

/** The sections of a file, in order, each verified by its checksum. */
class Sections {
  private position = 0;

  constructor(
    private readonly file: FileHandle,
    private readonly size: number,
  ) {}

  get atEnd(): boolean {
    return this.position === this.size;
  }

  async take(length: number): Promise<Buffer> {
    if (this.position + length > this.size) throw new Unusable('it is cut off');
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.file.read(bytes, 0, length, this.position);
    if (bytesRead !== length) throw new Unusable('it is cut off');
    this.position += length;
    return bytes;
  }

  async section(): Promise<{ payload: Buffer; checksum: number }> {
    const head = await this.take(SECTION_HEAD_BYTES);
    const payload = await this.take(head.readUInt32BE(0));
    const checksum = head.readUInt32BE(4);
    if (crc32(payload) !== checksum) throw new Unusable('a checksum does not fit');
    return { payload, checksum };
  }
}

function isMissing(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  );
}
