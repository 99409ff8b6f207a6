import { describe, expect, it } from '@jest/globals';
import { readable, shortened } from './map-labels.js';

describe('the labels of the map', () => {
  it('have the beginning of a name that is too long', () => {
    expect([shortened('van-7'), shortened('x'.repeat(28)), shortened('x'.repeat(29))]).toEqual([
      'van-7',
      'x'.repeat(28),
      `${'x'.repeat(27)}…`,
    ]);
  });

  it('leave out what would stand on an earlier one', () => {
    const labels = [
      { text: 'Depot', x: 0, y: 100 },
      { text: 'over it', x: 30, y: 105 },
      { text: 'touches it', x: 53, y: 100 },
      { text: 'beside it', x: 56, y: 100 },
      { text: 'below it', x: 0, y: 114 },
      { text: '', x: 500, y: 500 },
    ];
    const shown = readable(labels, (text) => 10 * text.length, 1_000).map(({ text }) => text);
    expect(shown).toEqual(['Depot', 'beside it', 'below it']);
  });

  it('stand on the other side of their mark where the map ends', () => {
    const labels = [
      { text: 'van-1', x: 40, y: 20, endX: 24 },
      { text: 'van-2', x: 160, y: 100, endX: 144 },
      { text: '5 km', x: 190, y: 150 },
    ];
    expect(readable(labels, (text) => 10 * text.length, 200).map(({ x }) => x)).toEqual([40, 94, 190]);
  });
});
