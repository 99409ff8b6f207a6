import { describe, expect, it } from '@jest/globals';
import { keyOfLink } from './sign-in-link.js';

describe('a sign-in link', () => {
  it('has its key in the fragment', () => {
    expect(keyOfLink('#key=wp_abc')).toBe('wp_abc');
  });

  it('without a key signs nobody in', () => {
    for (const hash of ['', '#', '#key=', '#deliveries', '#monkey=1']) expect(keyOfLink(hash)).toBeNull();
  });
});
