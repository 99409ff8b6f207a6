import { crc32 } from 'node:zlib';

/**
 * A checkpoint file has MAGIC, then sections of length (4 bytes), CRC-32 (4 bytes) and payload. The first section is the
 * header as JSON, then come blocks of entries, then an empty section and the trailer. The trailer says how many entries
 * there are and the CRC of all blocks' CRCs, so that nothing can be missing, twice or in another order.
 */
export const MAGIC = Buffer.from('WPSTATE1');
export const SECTION_HEAD_BYTES = 8;
export const TRAILER_BYTES = 12;
/** Length of the key, length of the value. */
export const ENTRY_HEAD_BYTES = 6;

/** What a checkpoint belongs to. Every field must match what the reader expects. */
export interface CheckpointIdentity {
  readonly applicationId: string;
  readonly store: string;
  readonly topic: string;
  /** Differs when the topic was deleted and created again: its offsets then mean other records. */
  readonly topicId: string;
  readonly partition: number;
  /** What the bytes of the values mean. */
  readonly format: string;
}

export interface CheckpointHeader extends CheckpointIdentity {
  /** The changelog offset to replay from, over the entries. */
  readonly position: number;
  /** When the store had applied everything before `position`, epoch ms. */
  readonly asOf: number;
}

export function section(payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(SECTION_HEAD_BYTES + payload.length);
  payload.copy(bytes, SECTION_HEAD_BYTES);
  sealSection(bytes);
  return bytes;
}

/** Writes length and checksum before the payload, which is already there. @returns the checksum */
export function sealSection(bytes: Buffer): number {
  const checksum = crc32(bytes.subarray(SECTION_HEAD_BYTES));
  bytes.writeUInt32BE(bytes.length - SECTION_HEAD_BYTES, 0);
  bytes.writeUInt32BE(checksum, 4);
  return checksum;
}

export function chainChecksum(chain: number, checksum: number): number {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(checksum, 0);
  return crc32(bytes, chain);
}

export function trailer(entries: number, chain: number): Buffer {
  const bytes = Buffer.allocUnsafe(TRAILER_BYTES);
  bytes.writeDoubleBE(entries, 0);
  bytes.writeUInt32BE(chain, 8);
  return Buffer.concat([section(Buffer.alloc(0)), section(bytes)]);
}
