import { errorMessage, UndecodedBatch } from '../errors.js';
import { StreamRecord } from '../record.js';
import { ByteReader, readInt64 } from './bytes.js';
import { crc32c } from './crc32c.js';
import { corrupt, decompress } from './decompress.js';

/** Records of this producer were aborted from here on, according to a read_committed fetch response. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

export const LOG_OVERHEAD_BYTES = 12;
export const LENGTH_AT = 8;
const HEADER_BYTES = 61;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const LAST_OFFSET_DELTA_AT = 23;
/** The checksum starts after the fields that brokers change. */
const CHECKED_FROM = 21;
const COMPRESSION_BITS = 0x07;
const LOG_APPEND_TIME_BIT = 0x08;
const TRANSACTIONAL_BIT = 0x10;
const CONTROL_BIT = 0x20;
const ABORT_MARKER = 0;
/** Limits the bytes of a slice: one fetch can hold hundreds of bodies that are tiny when packed. */
const SLICE_BYTES = 16 * 1024 * 1024;

/** What the records of a batch are relative to. */
interface RecordBase {
  readonly baseOffset: number;
  readonly attributes: number;
  readonly firstTimestamp: number;
  readonly maxTimestamp: number;
}

interface BatchHeader extends RecordBase {
  readonly lastOffset: number;
  readonly producerId: number;
  readonly count: number;
  readonly body: Buffer;
}

/**
 * The producers whose records are aborted at the current offset. The broker lists aborted transactions in order of
 * completion, and several producers may overlap in one partition. So they are taken by first offset, and a producer is
 * dropped at its abort marker.
 */
class AbortedProducers {
  private readonly upcoming: AbortedTransaction[];
  private readonly active = new Set<number>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.upcoming = [...aborted].sort((a, b) => b.firstOffset - a.firstOffset);
  }

  advanceTo(lastOffset: number): void {
    for (let next = this.upcoming.at(-1); next && next.firstOffset <= lastOffset; next = this.upcoming.at(-1)) {
      this.active.add(next.producerId);
      this.upcoming.pop();
    }
  }

  drops(header: BatchHeader): boolean {
    return (header.attributes & TRANSACTIONAL_BIT) !== 0 && this.active.has(header.producerId);
  }

  end(producerId: number): void {
    this.active.delete(producerId);
  }
}

/** The committed records of a fetch response, located but not decoded yet. */
export interface ScannedRecords {
  /** The offset after the last whole batch; equals `position` if there was none. */
  readonly nextOffset: number;
  /** The epoch of the last whole batch; undefined: none. */
  readonly leaderEpoch: number | undefined;
  /**
   * Yields at most `maxRecords` at a time, fewer of large batches, decoded on demand: short-lived objects are cheap to
   * collect.
   */
  readonly slices: (maxRecords: number) => Generator<StreamRecord[], void>;
}

/**
 * Scans the record batches (format v2) of one partition for committed records at or after `position`, without control
 * records. A batch cut off by the size limit is left for the next fetch, and so is a corrupt one after others.
 * @throws UndecodedBatch for bytes that no broker of a supported version sends; slices() may throw it too, after the
 * records before it
 */
export function scanRecordBatches(
  data: Buffer,
  position: number,
  aborted: readonly AbortedTransaction[],
): ScannedRecords {
  const producers = new AbortedProducers(aborted);
  const committed: BatchHeader[] = [];
  let nextOffset = position;
  let leaderEpoch: number | undefined;
  let at = 0;
  while (data.length - at >= HEADER_BYTES) {
    const size = LOG_OVERHEAD_BYTES + data.readInt32BE(at + LENGTH_AT);
    if (data.length - at < size) break;
    const header = tryHeader(data, at, size, position);
    if (header instanceof UndecodedBatch) {
      if (nextOffset > position) break;
      throw header;
    }
    const epoch = data.readInt32BE(at + LEADER_EPOCH_AT);
    leaderEpoch = epoch < 0 ? undefined : epoch;
    at += size;
    nextOffset = Math.max(nextOffset, header.lastOffset + 1);
    producers.advanceTo(header.lastOffset);
    if ((header.attributes & CONTROL_BIT) !== 0) {
      if (controlType(header) === ABORT_MARKER) producers.end(header.producerId);
    } else if (!producers.drops(header)) committed.push(header);
  }
  return { nextOffset, leaderEpoch, slices: (maxRecords) => slicesOfBatches(committed, position, maxRecords) };
}

function tryHeader(data: Buffer, at: number, size: number, position: number): BatchHeader | UndecodedBatch {
  try {
    return readHeader(data.subarray(at, at + size));
  } catch (error) {
    const baseOffset = readInt64(data, at);
    const offset = Math.max(position, baseOffset);
    const following = at + size + 8 <= data.length ? readInt64(data, at + size) : Infinity;
    const end = Math.min(baseOffset + data.readInt32BE(at + LAST_OFFSET_DELTA_AT) + 1, following);
    return undecoded(offset, Math.max(offset + 1, end), 0, error);
  }
}

function readHeader(batch: Buffer): BatchHeader {
  const magic = batch.readInt8(MAGIC_AT);
  if (magic !== 2) throw corrupt(`its format ${String(magic)} is not supported`);
  if (crc32c(batch.subarray(CHECKED_FROM)) !== batch.readUInt32BE(CRC_AT)) throw corrupt('its checksum does not match');
  const baseOffset = readInt64(batch, 0);
  return {
    baseOffset,
    lastOffset: baseOffset + batch.readInt32BE(LAST_OFFSET_DELTA_AT),
    attributes: batch.readInt16BE(21),
    firstTimestamp: readInt64(batch, 27),
    maxTimestamp: readInt64(batch, 35),
    producerId: readInt64(batch, 43),
    count: batch.readInt32BE(57),
    body: batch.subarray(HEADER_BYTES),
  };
}

/** The key of a control record is int16 version, int16 type; a compacted log may keep the batch without its record. */
function controlType(header: BatchHeader): number | null {
  if (header.count === 0) return null;
  const reader = new ByteReader(header.body);
  reader.varint();
  reader.position++; // attributes
  reader.varlong();
  reader.varint();
  reader.varint();
  reader.int16();
  return reader.int16();
}

function* slicesOfBatches(
  batches: readonly BatchHeader[],
  position: number,
  maxRecords: number,
): Generator<StreamRecord[], void> {
  let slice: StreamRecord[] = [];
  let bytes = 0;
  for (const header of batches) {
    if (bytes >= SLICE_BYTES) {
      if (slice.length > 0) yield slice;
      [slice, bytes] = [[], 0];
    }
    let next = Math.max(position, header.baseOffset);
    try {
      const reader = new ByteReader(decompress(header.attributes & COMPRESSION_BITS, header.body));
      bytes += reader.buffer.length;
      for (let index = 0; index < header.count; index++) {
        const record = readRecord(reader, header, index);
        if (record.offset < position) continue;
        next = record.offset + 1;
        slice.push(record);
        if (slice.length < maxRecords) continue;
        yield slice;
        [slice, bytes] = [[], reader.buffer.length];
      }
    } catch (error) {
      if (slice.length > 0) yield slice;
      throw undecoded(next, header.lastOffset + 1, header.maxTimestamp, error);
    }
  }
  if (slice.length > 0) yield slice;
}

/** The hottest function of all readers: one object per record, no views, varints read in place. */
export function readRecord(reader: ByteReader, header: RecordBase, index: number): StreamRecord {
  const bytes = reader.buffer;
  const length = reader.varint();
  const end = reader.position + length;
  reader.position++;
  const timestampDelta = reader.varlong();
  const offset = header.baseOffset + reader.varint();
  const keyLength = reader.varint();
  const keyStart = keyLength < 0 ? -1 : reader.position;
  if (keyLength > 0) reader.position += keyLength;
  const keyEnd = reader.position;
  const valueLength = reader.varint();
  const valueStart = valueLength < 0 ? -1 : reader.position;
  const valueEnd = valueLength > 0 ? reader.position + valueLength : reader.position;
  if (valueEnd > end || end > bytes.length) throw corrupt(`record ${String(index)} runs past its end`);
  reader.position = end;
  const headersStart = valueEnd < end && bytes[valueEnd] !== 0 ? valueEnd : -1;
  const appended = (header.attributes & LOG_APPEND_TIME_BIT) !== 0;
  const timestamp = appended ? header.maxTimestamp : header.firstTimestamp + timestampDelta;
  return new StreamRecord(offset, timestamp, bytes, keyStart, keyEnd, valueStart, valueEnd, headersStart);
}

function undecoded(offset: number, nextOffset: number, timestamp: number, cause: unknown): UndecodedBatch {
  const code = UndecodedBatch.codeOf(cause);
  return new UndecodedBatch(code, errorMessage(cause), { partition: '', offset, nextOffset, timestamp }, cause);
}
