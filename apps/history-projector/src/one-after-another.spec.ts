import { describe, expect, it } from '@jest/globals';
import { oneAfterAnother } from './one-after-another.js';

describe('Work that is done one after another', () => {
  it('begins when what came before is over, also when that failed', async () => {
    const log: string[] = [];
    const work = oneAfterAnother(async (name: string) => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (name === 'b') throw new Error('b failed');
      return name;
    });
    const results = await Promise.allSettled(['a', 'b', 'c'].map(work));
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
