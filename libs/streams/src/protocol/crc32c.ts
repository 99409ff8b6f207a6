import type * as NativeCrc32 from '@node-rs/crc32';
import { optionalPackage } from './native.js';

/** The checksum of record batches, about 30 times slower without the native package. */
export const crc32c: (bytes: Buffer) => number =
  (optionalPackage('@node-rs/crc32') as typeof NativeCrc32 | null)?.crc32c ?? plainCrc32c();

const REVERSED_POLYNOMIAL = 0x82f63b78;

export function plainCrc32c(): (bytes: Buffer) => number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ REVERSED_POLYNOMIAL : rest >>> 1;
    return rest;
  });
  return (bytes) => {
    let rest = 0xffff_ffff;
    for (const byte of bytes) rest = (rest >>> 8) ^ (table[(rest ^ byte) & 0xff] as number);
    return (rest ^ 0xffff_ffff) >>> 0;
  };
}
