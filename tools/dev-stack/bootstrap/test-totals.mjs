export const noTotals = Object.freeze({ passed: 0, failed: 0, skipped: 0 });

/**
 * Totals of one Jest run, or of its files but some. A test file that cannot even be loaded has no tests in the result but is
 * a failure; so is a run without a result, or one that fails although every test passes.
 */
export function totalsOf(result, exitCode, { without = [] } = {}) {
  if (result === undefined) return { ...noTotals, failed: 1 };
  const files = result.testResults.filter(({ name }) => !without.includes(name));
  const statuses = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = (...wanted) => statuses.filter((status) => wanted.includes(status)).length;
  const failed = count('failed') + files.filter(cannotBeLoaded).length;
  return {
    passed: count('passed'),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: count('pending', 'skipped', 'todo'),
  };
}

/** Absolute paths of the test files with a failure. */
export function failedFilesOf(result) {
  return (result?.testResults ?? []).filter(({ status }) => status === 'failed').map(({ name }) => name);
}

function cannotBeLoaded({ status, assertionResults }) {
  return status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
}

export function addTotals(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

export function totalsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
