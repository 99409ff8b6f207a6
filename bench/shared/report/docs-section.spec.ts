import { describe, expect, it } from '@jest/globals';
import { withSection } from './docs-section.js';

const BEGIN = '<!-- bench:delivery begin: written by the benchmark -->';
const END = '<!-- bench:delivery end -->';

describe('The results in the documentation', () => {
  it('replace the earlier ones and nothing else', () => {
    const page = `before\n\n${BEGIN}\n\nold\n\n${END}\n\nafter\n`;
    expect(withSection(page, 'delivery', 'new')).toBe(`before\n\n${BEGIN}\n\nnew\n\n${END}\n\nafter\n`);
  });

  it('are not written to a page without a place for them', () => {
    expect(() => withSection(`${END} ${BEGIN}`, 'delivery', 'new')).toThrow('has no place');
    expect(() => withSection(`${BEGIN} ${END}`, 'history', 'new')).toThrow('has no place');
  });
});
