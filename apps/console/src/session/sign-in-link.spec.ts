import { describe, expect, it } from '@jest/globals';
import { keyOfLink, portalBase, portalCodeOfLink } from './sign-in-link.js';

const PORTAL = '/portal/3f2b0c7e-9a51-4d2e-8c34-0f6d1f1b7a10';

describe('a sign-in link', () => {
  it('has its key in the fragment', () => {
    expect(keyOfLink('#key=wp_abc')).toBe('wp_abc');
  });

  it('without a key signs nobody in', () => {
    for (const hash of ['', '#', '#key=', '#deliveries', '#monkey=1']) expect(keyOfLink(hash)).toBeNull();
  });
});

describe('a link to the portal (R-42)', () => {
  it('has its code in the fragment, and is no key', () => {
    expect(portalCodeOfLink('#portal=wpc_abc')).toBe('wpc_abc');
    expect([keyOfLink('#portal=wpc_abc'), portalCodeOfLink('#key=wp_abc')]).toEqual([null, null]);
  });

  it.each([
    [PORTAL, PORTAL],
    [`${PORTAL}/`, PORTAL],
    [`${PORTAL}/deliveries/x`, PORTAL],
    ['/', ''],
    ['/deliveries', ''],
    ['/portal/x', ''],
    [`${PORTAL}x`, ''],
  ])('keeps its pages below its address: %s', (pathname, base) => expect(portalBase(pathname)).toBe(base));
});
