import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../../test/support/samples.js';
import { clampWindow } from './retention.js';

describe('clampWindow (R-31)', () => {
  const retained = NOON - 15 * 86_400_000;

  it('does not change a window within the retention', () => {
    const window = { startAt: retained, endAt: NOON + 1 };
    expect(clampWindow(window, NOON)).toEqual({ type: 'window', ...window });
  });

  it('moves an earlier start to that of the retention', () => {
    expect(clampWindow({ startAt: 0, endAt: NOON }, NOON)).toEqual({ type: 'window', startAt: retained, endAt: NOON });
  });

  it.each([0, -1])('finds nothing in a window that ends %d ms from the start of the retention', (ms) => {
    expect(clampWindow({ startAt: 0, endAt: retained + ms }, NOON)).toEqual({ type: 'empty' });
  });

  it.each([0, -1])('refuses a window that is %d ms long', (ms) => {
    expect(clampWindow({ startAt: NOON, endAt: NOON + ms }, NOON)).toEqual({ type: 'reversed' });
  });
});
