import { gunzipSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import { decompressFrameSync } from 'lz4-napi';
import { uncompressSync } from 'snappy';
import { StreamsError } from '../errors.js';

/** A batch is at most some MiB; more than this was packed to harm, and unpacking it could end the process. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** Java producers wrap snappy in xerial's block format; others send one plain block. */
const unsnappy = (data: Buffer): Buffer => {
  if (!data.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return asBuffer(uncompressSync(data));
  const blocks: Buffer[] = [];
  let position = XERIAL_HEADER_BYTES;
  while (position < data.length) {
    const length = data.readInt32BE(position);
    blocks.push(asBuffer(uncompressSync(data.subarray(position + 4, position + 4 + length))));
    position += 4 + length;
  }
  return Buffer.concat(blocks);
};

const asBuffer = (data: Buffer | string | Uint8Array): Buffer =>
  typeof data === 'string'
    ? Buffer.from(data)
    : Buffer.isBuffer(data)
      ? data
      : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/**
 * Undoes the compression of a record batch. Any producer in the world may choose its codec, so all four are read.
 * @param codec the three low bits of the batch's attributes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
 */
export const decompress = (codec: number, data: Buffer): Buffer => {
  switch (codec) {
    case 0:
      return data;
    case 1:
      return gunzipSync(data, { maxOutputLength: MAX_UNPACKED_BYTES });
    case 2:
      return unsnappy(data);
    case 3:
      return asBuffer(decompressFrameSync(data));
    case 4:
      return asBuffer(unzstd(data));
    default:
      throw new StreamsError('CORRUPT_BATCH', `A record batch names the unknown compression codec ${String(codec)}.`);
  }
};
