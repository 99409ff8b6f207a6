import { gunzipSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import type * as Lz4 from 'lz4-napi';
import type * as Snappy from 'snappy';
import { StreamsError } from '../errors.js';
import { ByteReader } from './bytes.js';
import { nativePackage } from './native.js';

/** A batch has at most some MiB; a larger one was compressed to do harm, and decompressing it could end the process. */
const MAX_BATCH_BYTES = 256 * 1024 * 1024;

/**
 * Decompresses a record batch. Producers choose their codec freely, so all four are supported. The unpacked size is
 * bounded from the headers first: only gzip's decompressor takes a limit.
 * @param codec the three low bits of the batch's attributes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
 * @throws StreamsError CODEC_MISSING for snappy and lz4 without their packages; CORRUPT_BATCH for an unknown codec, a
 * damaged body, and one that could unpack to over `maxBytes`
 */
export function decompress(codec: number, body: Buffer, maxBytes = MAX_BATCH_BYTES): Buffer {
  if (codec === 0) return body;
  const decompressor = DECOMPRESSORS[codec];
  if (decompressor === undefined) throw corrupt(`it names the unknown compression codec ${String(codec)}`);
  const { name, unpackedBytesAtMost, unpack } = decompressor;
  try {
    if (unpackedBytesAtMost(body) <= maxBytes) return unpack(body, maxBytes);
  } catch (error) {
    if (error instanceof StreamsError) throw error;
    throw corrupt(`it cannot be unpacked with ${name}`, error);
  }
  throw corrupt(`it could unpack to over ${String(maxBytes)} bytes with ${name}`);
}

interface Decompressor {
  readonly name: string;
  /** @throws RangeError for a body that ends within a header */
  readonly unpackedBytesAtMost: (body: Buffer) => number;
  readonly unpack: (body: Buffer, maxBytes: number) => Buffer;
}

const DECOMPRESSORS: Readonly<Record<number, Decompressor>> = {
  1: {
    name: 'gzip',
    unpackedBytesAtMost: () => 0,
    unpack: (body, maxBytes) => gunzipSync(body, { maxOutputLength: maxBytes }),
  },
  2: {
    name: 'snappy',
    // A block begins with its unpacked length.
    unpackedBytesAtMost: (body) =>
      snappyBlocks(body).reduce((bytes, block) => bytes + new ByteReader(block).unsignedVarint(), 0),
    unpack: (body) => {
      const { uncompressSync } = nativePackage('snappy') as typeof Snappy;
      return Buffer.concat(snappyBlocks(body).map((block) => uncompressSync(block) as Buffer));
    },
  },
  3: {
    name: 'lz4',
    unpackedBytesAtMost: lz4Bound,
    unpack: (body) => (nativePackage('lz4-napi') as typeof Lz4).decompressFrameSync(body),
  },
  4: { name: 'zstd', unpackedBytesAtMost: zstdBound, unpack: (body) => bufferOf(unzstd(body)) },
};

const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** Java producers wrap snappy in xerial's block format; others send one plain block. */
function snappyBlocks(body: Buffer): Buffer[] {
  if (!body.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return [body];
  const blocks: Buffer[] = [];
  for (let at = XERIAL_HEADER_BYTES; at < body.length;) {
    const end = at + 4 + body.readUInt32BE(at);
    blocks.push(body.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** The maximum expansion of one byte of an LZ4 block. */
const LZ4_EXPANSION = 255;

/** LZ4 frame format 1.6: blocks have their packed length, and the frame limits what one may unpack to. */
function lz4Bound(body: Buffer): number {
  const flags = body.readUInt8(4);
  const blockBytesAtMost = 2 ** (8 + 2 * ((body.readUInt8(5) >> 4) & 7));
  const checksumBytes = flags & 0x10 ? 4 : 0;
  let bytes = 0;
  for (let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0); ;) {
    const packedBytes = body.readUInt32LE(at) & 0x7fff_ffff;
    if (packedBytes === 0) return bytes;
    bytes += Math.min(blockBytesAtMost, packedBytes * LZ4_EXPANSION);
    at += 4 + packedBytes + checksumBytes;
  }
}

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_BLOCK_BYTES = 128 * 1024;

/** RFC 8878. The bound also covers the buffers that the frame header asks for. */
function zstdBound(body: Buffer): number {
  let bytes = 0;
  for (let at = 0; at < body.length;) {
    const isSkippable = body.readUInt32LE(at) !== ZSTD_MAGIC;
    const frame = isSkippable ? { bytes: 0, end: at + 8 + body.readUInt32LE(at + 4) } : zstdFrame(body, at + 4);
    bytes += frame.bytes;
    at = frame.end;
  }
  return bytes;
}

function zstdFrame(body: Buffer, start: number): { bytes: number; end: number } {
  const descriptor = body.readUInt8(start);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeAt = start + (isSingleSegment ? 1 : 2) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const contentBytes = sizeBytes === 8 ? Number(body.readBigUInt64LE(sizeAt)) : readSize(body, sizeAt, sizeBytes);
  const windowBytes = isSingleSegment ? 0 : zstdWindow(body.readUInt8(start + 1));
  let bytes = 0;
  for (let at = sizeAt + sizeBytes; ;) {
    const header = body.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    bytes += type === 2 ? ZSTD_BLOCK_BYTES : size;
    at += 3 + (type === 1 ? 1 : size);
    if (header & 1) return { bytes: Math.max(bytes, contentBytes, windowBytes), end: at + (descriptor & 4 ? 4 : 0) };
  }
}

function readSize(body: Buffer, at: number, bytes: number): number {
  return bytes === 0 ? 0 : body.readUIntLE(at, bytes);
}

function zstdWindow(descriptor: number): number {
  return 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function corrupt(what: string, cause?: unknown): StreamsError {
  return new StreamsError('CORRUPT_BATCH', `A record batch is corrupt: ${what}.`, { cause });
}
