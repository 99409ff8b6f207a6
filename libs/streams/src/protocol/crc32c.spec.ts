import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc32c, plainCrc32c } from './crc32c.js';

describe('the checksum of record batches', () => {
  it('is CRC-32C, by its published check value', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  });

  it('is the same without the native package', () => {
    const plain = plainCrc32c();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(plain(Buffer.from(bytes))).toBe(crc32c(Buffer.from(bytes)));
      }),
    );
  });
});
