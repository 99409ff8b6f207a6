import { describe, expect, it } from '@jest/globals';
import { isSignInLink, keyOfLink, portalCodeOfLink } from './sign-in-link.js';

describe('a sign-in link', () => {
  it('has its key in the fragment', () => {
    expect(keyOfLink('#key=wp_abc')).toBe('wp_abc');
  });

  it('without a key does not sign in', () => {
    for (const hash of ['', '#', '#key=', '#deliveries', '#monkey=1']) expect(keyOfLink(hash)).toBeNull();
    expect(isSignInLink('#deliveries')).toBe(false);
  });
});

describe('a link to the portal (R-42)', () => {
  it('has its code in the fragment, and is no key', () => {
    expect(portalCodeOfLink('#portal=wpc_abc')).toBe('wpc_abc');
    expect([keyOfLink('#portal=wpc_abc'), portalCodeOfLink('#key=wp_abc')]).toEqual([null, null]);
    expect(['#portal=wpc_abc', '#key=wp_abc'].map(isSignInLink)).toEqual([true, true]);
  });
});
