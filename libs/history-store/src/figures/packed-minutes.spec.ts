import { describe, expect, it } from '@jest/globals';
import { minutesOf, packedSumOf, packMinutes } from './packed-minutes.js';

const ONE = '[1,1,,,,,[1,,,,,],[52,1],[]]';
const RETRIED = '[,1,,,1,,[1,,,1,,],[81,1],[36,1]]';
const SUM = '[1,2,,,1,,[2,,,1,,],[52,1,81,1],[36,1]]';

describe('minutes in one text (R-41)', () => {
  it('are read as they were packed', () => {
    const minutes = new Map([
      [0, ONE],
      [1_439, RETRIED],
    ]);
    expect(minutesOf(packMinutes(minutes))).toEqual(minutes);
    expect(minutesOf('')).toEqual(new Map());
  });

  it('are added where a minute stands several times', () => {
    expect(minutesOf(`7${ONE}12${ONE}7${RETRIED}`)).toEqual(
      new Map([
        [7, SUM],
        [12, ONE],
      ]),
    );
  });

  it('are added all together, with figures without a minute too', () => {
    expect(packedSumOf(`${ONE}12${RETRIED}`)).toBe(SUM);
    expect(packedSumOf('[1,1,0,0,0,0,[1,0,0,0,0,0],[52,1],[]]')).toBe(ONE);
  });

  it.each(['7', `7${ONE}12`, '7[1,1,,,,,[1,,,,,],[52,1],[]'])('are refused when a part is missing: %s', (text) =>
    expect(() => minutesOf(text)).toThrow(RangeError),
  );
});
