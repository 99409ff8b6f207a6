import { describe, expect, it } from '@jest/globals';
import { LeftOut, withoutLeftOut } from './left-out.js';

describe('what is left out, in the metadata of a committed position (R-45)', () => {
  it.each(['', '17', '1,2;epoch=3'])('comes back from it, and leaves %j to the task', (metadata) => {
    const [written, read] = [new LeftOut(), new LeftOut()];
    written.add(7, 3);
    expect(read.takeFrom(written.addTo(metadata))).toBe(metadata);
    expect([2, 3, 7].map((offset) => read.has(offset))).toEqual([false, true, true]);
  });

  it('is no entry while there is nothing', () => {
    const none = new LeftOut();
    none.add(3);
    none.clear();
    expect([new LeftOut().addTo('17'), none.addTo('')]).toEqual(['17', '']);
  });

  it('is dropped where a position is set, with other records at the offsets perhaps', () => {
    expect(withoutLeftOut('17,left-out=3+7')).toBe('17');
  });

  it('is no more than brokers take: the 32 last, and nothing where the metadata is long already', () => {
    const many = new LeftOut();
    many.add(...Array.from({ length: 40 }, (_, n) => n));
    expect([many.has(7), many.has(8), many.has(39)]).toEqual([false, true, true]);
    const long = 'x'.repeat(4_090);
    expect(many.addTo(long)).toBe(long);
  });
});
