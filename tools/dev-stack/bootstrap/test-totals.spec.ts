import { describe, expect, it } from '@jest/globals';

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface TestTotals {
  readonly totalsOf: (result: object | undefined, exitCode: number, options?: { without?: string[] }) => Totals;
  readonly failedFilesOf: (result: object | undefined) => string[];
  readonly addTotals: (a: Totals, b: Totals) => Totals;
  readonly totalsLine: (totals: Totals) => string;
}

// Plain JavaScript, since it runs before anything is built.
const { totalsOf, failedFilesOf, addTotals, totalsLine } = (await import(
  new URL('./test-totals.mjs', import.meta.url).href
)) as TestTotals;

function file(name: string, ...statuses: string[]) {
  const failed = statuses.includes('failed') || statuses.length === 0;
  return { name, status: failed ? 'failed' : 'passed', assertionResults: statuses.map((status) => ({ status })) };
}

const passes = { testResults: [file('/a', 'passed', 'passed'), file('/b', 'passed')] };
const fails = {
  testResults: [
    file('/a', 'passed', 'pending'),
    file('/b', 'failed', 'failed', 'passed'),
    file('/c'),
    file('/d', 'todo'),
  ],
};

describe('test totals', () => {
  it('counts tests, and a file that cannot be loaded as a failure', () => {
    expect(totalsOf(passes, 0)).toEqual({ passed: 3, failed: 0, skipped: 0 });
    expect(totalsOf(fails, 1)).toEqual({ passed: 2, failed: 3, skipped: 2 });
  });

  it('counts a run without a result, and a failed run of passing tests, as a failure', () => {
    expect(totalsOf(undefined, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(totalsOf(passes, 1)).toEqual({ passed: 3, failed: 1, skipped: 0 });
  });

  it('names the files that failed, and counts the others without them', () => {
    expect(failedFilesOf(fails)).toEqual(['/b', '/c']);
    expect(totalsOf(fails, 0, { without: failedFilesOf(fails) })).toEqual({ passed: 1, failed: 0, skipped: 2 });
    expect(failedFilesOf(undefined)).toEqual([]);
  });

  it('prints one line, which mentions skipped tests only if there are any', () => {
    expect(totalsLine(addTotals(totalsOf(passes, 0), totalsOf(passes, 0)))).toBe('6 passed, 0 failed');
    expect(totalsLine({ passed: 1, failed: 2, skipped: 3 })).toBe('1 passed, 2 failed, 3 skipped');
  });
});
