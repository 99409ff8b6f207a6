import { describe, expect, it } from '@jest/globals';
import { projectionConfig } from './config.js';

describe('WAYPOST_PROJECTION_TRANSACTIONS', () => {
  it.each([
    [undefined, 1],
    ['1', 1],
    ['8', 8],
  ])('set to %s means %s at once', (text, transactionsAtOnce) => {
    expect(projectionConfig.parse({ WAYPOST_PROJECTION_TRANSACTIONS: text })).toEqual({ transactionsAtOnce });
  });

  it.each(['0', '9', '1.5', 'many', ''])('is refused as %p, with what it must be', (text) => {
    const { error } = projectionConfig.safeParse({ WAYPOST_PROJECTION_TRANSACTIONS: text });
    expect(error?.issues).toMatchObject([
      { path: ['WAYPOST_PROJECTION_TRANSACTIONS'], message: 'is not usable: it must be a whole number from 1 to 8' },
    ]);
  });
});
