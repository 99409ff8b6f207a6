import { describe, expect, it } from '@jest/globals';

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface TestTotals {
  readonly noTotals: Totals;
  readonly totalsOf: (result: object | undefined, exitCode: number) => Totals;
  readonly addTotals: (a: Totals, b: Totals) => Totals;
  readonly totalsLine: (totals: Totals) => string;
}

// Plain JavaScript, since it runs before anything is built.
const { totalsOf, addTotals, totalsLine } = (await import(
  new URL('./test-totals.mjs', import.meta.url).href
)) as TestTotals;

function result(numbers: object = {}) {
  return {
    numPassedTests: 5,
    numFailedTests: 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    ...numbers,
  };
}

describe('test totals', () => {
  it('counts tests, and a file that cannot be loaded as a failure', () => {
    expect(totalsOf(result(), 0)).toEqual({ passed: 5, failed: 0, skipped: 0 });
    expect(
      totalsOf(result({ numFailedTests: 2, numRuntimeErrorTestSuites: 1, numPendingTests: 3, numTodoTests: 1 }), 1),
    ).toEqual({ passed: 5, failed: 3, skipped: 4 });
  });

  it('counts a run without a result, and a failed run of passing tests, as a failure', () => {
    expect(totalsOf(undefined, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(totalsOf(result(), 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it('prints one line, which mentions skipped tests only if there are any', () => {
    expect(totalsLine(addTotals(totalsOf(result(), 0), totalsOf(result(), 0)))).toBe('10 passed, 0 failed');
    expect(totalsLine({ passed: 1, failed: 2, skipped: 3 })).toBe('1 passed, 2 failed, 3 skipped');
  });
});
