import { describe, expect, it } from '@jest/globals';
import { parseUrl } from './parse-url.js';

/** V8 optimizes the caller within this many calls. */
const CALLS = 50_000;

describe('parseUrl', () => {
  it('reads names with other letters than those of ASCII, however often it is called', () => {
    const read = Array.from({ length: CALLS }, () => parseUrl('https://b\u00fccher.example/x')?.href);
    expect(new Set(read)).toEqual(new Set(['https://xn--bcher-kva.example/x']));
  });

  it('finds no URL in other text', () => {
    expect(parseUrl('b\u00fccher.example')).toBeNull();
  });
});
