import { describe, expect, it } from '@jest/globals';
import { KeyBuilder } from './key-builder.js';

function textOf({ bytes, length }: KeyBuilder): string {
  return Buffer.from(bytes.subarray(0, length)).toString();
}

describe('a key that is put together', () => {
  it.each([0, 1, 254, 255, 256, 257, 511, 512, 768, 1_024])(
    'has each part, the first of them %i bytes long',
    (count) => {
      const [first, last] = ['a'.repeat(count), 'ü'.repeat(count)];
      const key = new KeyBuilder().appendText(first).appendByte(0x1f).appendText(last).append(Buffer.from('end'), 0, 3);
      expect(textOf(key)).toBe(`${first}\u001f${last}end`);
    },
  );

  it('has nothing of the key before', () => {
    const key = new KeyBuilder().appendText('a'.repeat(1_000));
    expect(textOf(key.reset().appendText('b').appendByte(0x1f))).toBe('b\u001f');
  });
});
