import { randomFillSync } from 'node:crypto';

/**
 * HalfSipHash-2-4 of a group and a text, 64 bits, under a random key: an owner who chooses device ids cannot make two
 * of them collide.
 */
export class KeyedHash {
  private v0 = 0;
  private v1 = 0;
  private v2 = 0;
  private v3 = 0;

  constructor(private readonly key: readonly [number, number] = randomKey()) {}

  /** The result goes into the first two words. */
  hash(into: Uint32Array, group: number, text: string): void {
    const [key0, key1] = this.key;
    this.v0 = key0;
    this.v1 = key1 ^ 0xee;
    this.v2 = key0 ^ 0x6c796765;
    this.v3 = key1 ^ 0x74656462;
    this.absorb(group);
    // After the last character of an odd length charCodeAt gives NaN, which shifts to 0.
    for (let at = 0; at < text.length; at += 2) this.absorb(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
    this.absorb(text.length);
    this.v2 ^= 0xee;
    into[0] = this.finish();
    this.v1 ^= 0xdd;
    into[1] = this.finish();
  }

  private absorb(word: number): void {
    this.v3 ^= word;
    this.mix(2);
    this.v0 ^= word;
  }

  private finish(): number {
    this.mix(4);
    return this.v1 ^ this.v3;
  }

  private mix(rounds: number): void {
    let { v0, v1, v2, v3 } = this;
    for (let round = 0; round < rounds; round++) {
      v0 = (v0 + v1) | 0;
      v1 = rotated(v1, 5) ^ v0;
      v0 = rotated(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotated(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotated(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotated(v1, 13) ^ v2;
      v2 = rotated(v2, 16);
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function randomKey(): [number, number] {
  const [key0 = 0, key1 = 0] = randomFillSync(new Int32Array(2));
  return [key0, key1];
}
