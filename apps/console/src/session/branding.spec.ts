import { describe, expect, it } from '@jest/globals';
import { brandProperties } from './branding.js';

describe('the look of a portal (R-42)', () => {
  it('is that of the console unless the fleet has one', () => {
    expect(brandProperties({ colorScheme: 'auto' })).toEqual({});
  });

  it('has the color scheme of the fleet', () => {
    expect(brandProperties({ colorScheme: 'dark' })).toEqual({ 'color-scheme': 'dark' });
  });

  it.each([
    ['#000080', 'light-dark(#ffffff, '],
    ['#0f766e', 'light-dark(#ffffff, '],
    ['#ffd400', 'light-dark(#101414, '],
    ['#ffffff', 'light-dark(#101414, '],
  ])('has text that can be read on the brand color %s', (brandColor, text) => {
    const properties = brandProperties({ brandColor, colorScheme: 'auto' });
    expect(properties['--on-accent']?.startsWith(text)).toBe(true);
    expect(properties['--accent']).toContain(brandColor);
  });
});
