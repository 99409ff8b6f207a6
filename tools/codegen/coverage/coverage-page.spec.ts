import { beforeAll, describe, expect, it } from '@jest/globals';
import { decidedRules, parseRules, readCoverage, titlesOf, type RuleCoverage } from './coverage-page.js';

const ROOT = new URL('../../..', import.meta.url).pathname;

describe('the coverage of the rules (R-44)', () => {
  let rules: RuleCoverage[] = [];

  beforeAll(async () => {
    rules = await readCoverage(ROOT);
  });

  it('has every rule number once, without gaps', () => {
    const numbers = Array.from({ length: 46 }, (_, index) => `R-${String(index + 1)}`);
    expect(
      rules
        .map(({ id }) => id)
        .filter((id) => id !== 'R-34a')
        .sort(),
    ).toEqual(numbers.sort());
  });

  it('finds code that cites each rule that is built', () => {
    expect(rules.filter(({ isBuilt, code }) => isBuilt && code.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it('finds a test title that cites each rule that is built', () => {
    expect(rules.filter(({ isBuilt, tests }) => isBuilt && tests.length === 0).map(({ id }) => id)).toEqual([]);
  });
});

describe('a rule of the specification', () => {
  it('is built when something of it is not planned', () => {
    const spec = '### R-1 One\n\n- Source: a\n- Planned: b\n\n### R-2 Two words\n\n- Planned: c\n';
    expect(parseRules(spec)).toEqual([
      { id: 'R-1', title: 'One', isBuilt: true, hasPlannedParts: true },
      { id: 'R-2', title: 'Two words', isBuilt: false, hasPlannedParts: true },
    ]);
  });

  it('must say of each statement where it comes from', () => {
    expect(() => parseRules('### R-1 One\n\n- It does something.\n')).toThrow('marked statements');
  });
});

describe('a file of code', () => {
  it('decides the rules whose numbers begin a comment', () => {
    const text = [
      '/** R-3: too far ahead. */',
      '/**',
      ' * R-16, R-19: headers.',
      ' */',
      'f(); // R-22: in order',
      '/** As R-5 says: valid. */',
      '/** Bound (R-6): none. */',
      "const id = 'R-7: x';",
    ].join('\n');
    expect([...decidedRules(text)]).toEqual(['R-3', 'R-16', 'R-19', 'R-22']);
  });
});

describe('a test title', () => {
  it('counts with the titles around it, also after it.each and in a template', () => {
    const text = [
      "describe('a', () => {",
      "  it('b (R-7)', () => {});",
      "  it.each([['x'], ['y (R-9)']])('c %s (R-8)', () => {});",
      '  it(`d ${x} (R-6)`, () => {});',
      "  expect('R-5').toBe('R-4'); // R-3",
      '});',
    ].join('\n');
    expect(titlesOf('a.spec.ts', text)).toEqual(['a › b (R-7)', 'a › c %s (R-8)', 'a › d … (R-6)']);
  });
});
