import { describe, expect, it } from '@jest/globals';
import { brandProperties } from './branding.js';

/** Of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Of a property: in the light scheme, and in the dark one. */
function pairOf(value = ''): string[] {
  return value.match(/#[0-9a-f]{6}/g) ?? [];
}

const LEVELS = ['00', '33', '66', '99', 'cc', 'ff'];
const GRID = LEVELS.flatMap((red) => LEVELS.flatMap((green) => LEVELS.map((blue) => `#${red}${green}${blue}`)));

describe('the look of a portal (R-42)', () => {
  it('is that of the console unless the fleet has one', () => {
    expect(brandProperties({ colorScheme: 'auto' })).toEqual({});
  });

  it('can be read in any brand color, on every ground, on buttons and where the current page stands in the menu', () => {
    const unreadable = GRID.filter((brandColor) => {
      const properties = brandProperties({ brandColor, colorScheme: 'auto' });
      const [accents, tints, texts] = ['--accent', '--accent-tint', '--on-accent'].map((name) =>
        pairOf(properties[name]),
      );
      return [
        ['#ffffff', '#f5f7f8'],
        ['#0c1211', '#1a2422'],
      ].some((grounds, scheme) => {
        const behind = [...grounds, tints?.[scheme] ?? '', texts?.[scheme] ?? ''];
        return !behind.every((color) => contrast(accents?.[scheme] ?? '', color) >= 4.5);
      });
    });
    expect(unreadable).toEqual([]);
  });

  it.each([
    ['#0f766e', '#0f766e'],
    ['#000080', '#000080'],
    // Too light for a link on white.
    ['#ffd400', '#856e00'],
    ['#ffffff', '#707070'],
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
    ['#000000', '#8a8a8a'],
    ['#000080', '#8585c2'],
  ])('has them in the dark scheme, too, of the brand color %s', (brandColor, accent) => {
    expect(brandProperties({ brandColor, colorScheme: 'auto' })['--accent']).toMatch(new RegExp(`, ${accent}\\)$`));
  });
});
