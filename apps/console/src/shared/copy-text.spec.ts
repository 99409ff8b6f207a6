import { describe, expect, it } from '@jest/globals';
import { copyText } from './copy-text.js';

describe('copying a text', () => {
  it('is done where the browser lets it', async () => {
    const copied: string[] = [];
    const clipboard = {
      writeText(text: string) {
        copied.push(text);
        return Promise.resolve();
      },
    };
    expect([await copyText('whsec_1', clipboard), copied]).toEqual([true, ['whsec_1']]);
  });

  it('is known to have failed where a page has no clipboard, or may not write to it', async () => {
    const refusing = { writeText: () => Promise.reject(new DOMException('Write permission denied.')) };
    expect([await copyText('x', undefined), await copyText('x', refusing)]).toEqual([false, false]);
  });
});
