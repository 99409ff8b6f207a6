import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import { decompress } from './decompress.js';

interface Codec {
  readonly name: string;
  readonly id: number;
  readonly compress: (content: Buffer) => Buffer;
}

const codecs: readonly Codec[] = [
  { name: 'gzip', id: 1, compress: gzipSync },
  { name: 'snappy', id: 2, compress: snappy },
  { name: "snappy in xerial's blocks", id: 2, compress: (content) => xerial([snappy(content)]) },
  { name: 'lz4', id: 3, compress: compressFrameSync },
  { name: 'zstd', id: 4, compress: (content) => zstd([rawBlock(content)]) },
];

const contents = fc.uint8Array({ minLength: 1, maxLength: 2_000 }).map((bytes) => Buffer.from(bytes));

describe.each(codecs)('a body compressed with $name', ({ id, compress }) => {
  it('unpacks to the original bytes', () => {
    fc.assert(fc.property(contents, (content) => expect(decompress(id, compress(content))).toEqual(content)));
  });

  it('is corrupt when it ends early', () => {
    fc.assert(
      fc.property(contents, fc.integer({ min: 1, max: 2 }), (content, missing) => {
        const body = compress(content);
        expect(() => decompress(id, body.subarray(0, body.length - missing))).toThrow('cannot be unpacked');
      }),
    );
  });

  it('is either read or corrupt, whatever has changed in it', () => {
    fc.assert(
      fc.property(contents, fc.nat(), fc.nat({ max: 255 }), (content, at, byte) => {
        const body = compress(content);
        body[at % body.length] = byte;
        expect(['read', 'CORRUPT_BATCH']).toContain(outcomeOf(() => decompress(id, body)));
      }),
    );
  });

  it('is refused when it unpacks to more than the limit', () => {
    const body = compress(Buffer.alloc(100_000));
    expect(outcomeOf(() => decompress(id, body, 99_999))).toBe('CORRUPT_BATCH');
    expect(decompress(id, body, 2 ** 20)).toHaveLength(100_000);
  });
});

describe('a body that claims to be larger than a batch can be', () => {
  it.each([
    ['snappy', 2, Buffer.from([0x80, 0x80, 0x80, 0x80, 0x04, 0])],
    ["one of xerial's many blocks", 2, xerial(Array.from({ length: 17 }, () => snappy(Buffer.alloc(2 ** 24))))],
    ['lz4', 3, lz4Bomb()],
    ['zstd by its blocks', 4, zstd(Array.from({ length: 2_049 }, repeatedBlock))],
    ['zstd by its content size', 4, zstd([rawBlock(Buffer.alloc(1))], 2 ** 31)],
    ['zstd by its window', 4, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x01, 0x00, 0x00])],
  ])('is refused before any of it is unpacked: %s', (_name, id, body) => {
    const before = process.memoryUsage.rss();
    expect(() => decompress(id, body)).toThrow('could unpack to over 268435456 bytes');
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
  });
});

describe('the codec of a batch', () => {
  it('may be 0 for an uncompressed body', () => {
    expect(decompress(0, Buffer.from('plain')).toString()).toBe('plain');
  });

  it('is refused when it is unknown', () => {
    expect(() => decompress(5, Buffer.from('plain'))).toThrow('unknown compression codec 5');
  });
});

function outcomeOf(act: () => unknown): unknown {
  try {
    act();
    return 'read';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

function snappy(content: Buffer): Buffer {
  return Buffer.from(compressSync(content));
}

function xerial(blocks: readonly Buffer[]): Buffer {
  const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  return Buffer.concat([header, ...blocks.flatMap((block) => [uint32(block.length), block])]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** 65 blocks of 4 MiB, each said to take 32 KiB. */
function lz4Bomb(): Buffer {
  const block = Buffer.alloc(4 + 2 ** 15);
  block.writeUInt32LE(2 ** 15);
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73]);
  return Buffer.concat([header, ...Array.from({ length: 65 }, () => block), Buffer.alloc(4)]);
}

interface ZstdBlock {
  readonly type: 0 | 1;
  readonly size: number;
  readonly body: Buffer;
}

function rawBlock(body: Buffer): ZstdBlock {
  return { type: 0, size: body.length, body };
}

function repeatedBlock(): ZstdBlock {
  return { type: 1, size: 128 * 1024, body: Buffer.alloc(1) };
}

/** A single-segment frame with its content size in four bytes (RFC 8878, 3.1.1). */
function zstd(
  blocks: readonly ZstdBlock[],
  contentBytes = blocks.reduce((bytes, { size }) => bytes + size, 0),
): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  header.writeUInt32LE(contentBytes, 5);
  const bodies = blocks.flatMap(({ type, size, body }, index) => {
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((size << 3) | (type << 1) | (index === blocks.length - 1 ? 1 : 0), 0, 3);
    return [blockHeader, body];
  });
  return Buffer.concat([header, ...bodies]);
}
