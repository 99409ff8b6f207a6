export const noTotals = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

/**
 * Totals of one Jest run. A test file that cannot even be loaded has no tests in the result but is a failure; so is a run
 * without a result, or one that fails although every test passes.
 */
export function totalsOf(result, exitCode) {
  if (result === undefined) return { ...noTotals, failed: 1 };
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

export function addTotals(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

export function totalsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
