import { describe, expect, it } from '@jest/globals';
import { chartSvg } from './chart.js';

const panel = {
  title: 'Records/s',
  note: 'more is better',
  bars: [
    { name: 'A', value: 200, text: '200' },
    { name: 'B & C', value: 100, text: '<100>' },
  ],
};

function barWidths(svg: string): number[] {
  return [...svg.matchAll(/<rect x="\d+" y="\d+" width="(\d+)"/g)].map(([, width]) => Number(width));
}

describe('The chart', () => {
  it('draws bars in proportion to their values', () => {
    const [first = 0, second = 0] = barWidths(chartSvg('Title', 'subtitle', [panel]));
    expect(first).toBe(second * 2);
  });

  it('describes its content in words for screen readers', () => {
    expect(chartSvg('Title', 'subtitle', [panel])).toMatch(/<title id="title">Title: Records\/s A 200, B &amp; C/);
  });

  it('escapes what would be markup', () => {
    const svg = chartSvg('Title', 'subtitle', [panel]);
    expect(svg).toContain('&lt;100&gt;');
    expect(svg).not.toContain('<100>');
  });

  it('stays inside its picture, also with an odd number of panels', () => {
    const svg = chartSvg('Title', 'subtitle', [panel, panel, panel, panel]);
    const [, width = '', height = ''] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
    for (const [, x = '', y = ''] of svg.matchAll(/x="(\d+)" y="(\d+)"/g)) {
      expect(Number(x)).toBeLessThan(Number(width));
      expect(Number(y)).toBeLessThan(Number(height));
    }
  });
});
