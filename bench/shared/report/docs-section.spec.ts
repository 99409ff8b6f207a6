import { describe, expect, it } from '@jest/globals';
import { splitResult, withSection } from './docs-section.js';

const BEGIN = '<!-- bench:delivery begin: written by the benchmark -->';
const END = '<!-- bench:delivery end -->';

describe('The results in the documentation', () => {
  it('replace the earlier ones and nothing else', () => {
    const page = `before\n\n${BEGIN}\n\nold\n\n${END}\n\nafter\n`;
    expect(withSection(page, 'delivery', 'new')).toBe(`before\n\n${BEGIN}\n\nnew\n\n${END}\n\nafter\n`);
  });

  it('show their first table; the others have a page of their own, with the same circumstances', () => {
    const report = '- two cores\n\n### First\n\n| a |\n\n### Second\n\n| b |\n\n### Third\n\n| c |';
    const { shown, more } = splitResult('delivery', report);
    expect(shown).toBe('- two cores\n\n### First\n\n| a |\n\n[More tables](results/delivery.md)');
    expect(more).toMatch(/^# More results of bench:delivery\n/);
    expect(more?.slice(more.indexOf('- two cores'))).toBe('- two cores\n\n## Second\n\n| b |\n\n## Third\n\n| c |\n');
  });

  it.each(['- two cores', '- two cores\n\n### Only\n\n| a |'])(
    'are shown whole when there is one table: %j',
    (report) => {
      expect(splitResult('api', report)).toEqual({ shown: report, more: null });
    },
  );

  it('are not written to a page without a place for them', () => {
    expect(() => withSection(`${END} ${BEGIN}`, 'delivery', 'new')).toThrow('has no place');
    expect(() => withSection(`${BEGIN} ${END}`, 'history', 'new')).toThrow('has no place');
  });
});
