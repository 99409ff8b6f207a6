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
    ['#0f766e', '#0f766e'],
    ['#000080', '#000080'],
    // Too light for a link on white.
    ['#ffd400', '#7a6600'],
    ['#ffffff', '#666666'],
  ])(
    'has links and buttons in the light scheme whose text can be read, of the brand color %s',
    (brandColor, accent) => {
      const properties = brandProperties({ brandColor, colorScheme: 'auto' });
      expect(properties['--accent']).toMatch(new RegExp(`^light-dark\\(${accent}, `));
      expect(properties['--on-accent']).toMatch(/^light-dark\(#ffffff, /);
    },
  );

  it.each([
    ['#ffd400', '#ffd400'],
    // Too dark for a link on black.
    ['#000000', '#949494'],
    ['#000080', '#8f8fc7'],
  ])('has them in the dark scheme, too, of the brand color %s', (brandColor, accent) => {
    expect(brandProperties({ brandColor, colorScheme: 'auto' })['--accent']).toMatch(new RegExp(`, ${accent}\\)$`));
  });
});
