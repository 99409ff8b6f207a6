import { describe, expect, it } from '@jest/globals';
import { speedLines } from './speed-axis.js';

describe('the axis of speeds', () => {
  it.each([
    [0, [0, 5]],
    [49, [0, 20, 40, 60]],
    [82, [0, 25, 50, 75, 100]],
    [130, [0, 50, 100, 150]],
    [900, [0, 300, 600, 900]],
  ])('has few and round lines, the last of which is not exceeded: %d', (fastest, lines) => {
    expect(speedLines(fastest)).toEqual(lines);
  });
});
