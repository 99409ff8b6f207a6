import { describe, expect, it } from '@jest/globals';
import { AvroCursor } from './avro-cursor.js';
import {
  afterOptionalDouble,
  afterOptionalInt,
  afterOptionalLong,
  afterOptionalText,
  NOT_PLAIN,
} from './plain-avro.js';

const END = 140;
const RESTS = [0x00, 0x05, 0x80, 0xff];

type After = (bytes: Uint8Array, at: number) => number;
type Skip = (cursor: AvroCursor) => unknown;

const VALUES: readonly (readonly [string, After, Skip])[] = [
  ['an int', afterOptionalInt, (cursor) => cursor.optionalInt()],
  ['a long', afterOptionalLong, (cursor) => cursor.optionalLong()],
  ['a double', afterOptionalDouble, (cursor) => cursor.optionalDouble()],
  ['a text', afterOptionalText, (cursor) => cursor.optionalString()],
];

/** All beginnings of three bytes that mean something, and more of the same behind them. */
function* beginnings(): Iterable<Buffer> {
  for (let first = 0; first < 256; first++) {
    for (let second = 0; second < 256; second++) {
      for (const rest of RESTS) {
        const bytes = Buffer.alloc(END, rest);
        bytes[0] = first;
        bytes[1] = second;
        yield bytes;
      }
    }
  }
}

describe('a value that is walked over', () => {
  it.each(VALUES)('ends where the cursor says, or is left to the cursor: %s', (_what, after, skip) => {
    const cursor = new AvroCursor();
    let plain = 0;
    for (const bytes of beginnings()) {
      const at = after(bytes, 0);
      if (at === NOT_PLAIN) continue;
      plain++;
      cursor.reset(bytes, 0, END);
      skip(cursor);
      if (at !== cursor.at) expect([bytes.subarray(0, 3), at]).toEqual([bytes.subarray(0, 3), cursor.at]);
    }
    expect(plain).toBeGreaterThan(1_000);
  });

  it.each([
    ['an int of 28 bits', afterOptionalInt, [2, 0xff, 0xff, 0xff, 0x7f], 5],
    ['a longer int', afterOptionalInt, [2, 0xff, 0xff, 0xff, 0xff, 0x01], NOT_PLAIN],
    ['a long of 49 bits', afterOptionalLong, [2, ...Array<number>(6).fill(0xff), 0x7f], 8],
    ['a longer long', afterOptionalLong, [2, ...Array<number>(7).fill(0xff), 0x01], NOT_PLAIN],
    ['a text of 63 bytes', afterOptionalText, [2, 126], 65],
    ['a longer text', afterOptionalText, [2, 0x80, 0x01], NOT_PLAIN],
    ['a text of a negative length', afterOptionalText, [2, 1], NOT_PLAIN],
    ['a third branch', afterOptionalDouble, [4], NOT_PLAIN],
    ['what is cut off behind its branch', afterOptionalInt, [2], NOT_PLAIN],
  ] as const)('is %s', (_what, after, bytes, behind) => expect(after(Uint8Array.from(bytes), 0)).toBe(behind));
});
