/** What two lists differ in, each counted as often as it occurs; short enough to be printed. */
export interface Differences {
  readonly missing: readonly string[];
  readonly unexpected: readonly string[];
}

const SHOWN = 5;

export const none: Differences = { missing: [], unexpected: [] };

export function differences(actual: readonly string[], expected: readonly string[]): Differences {
  return { missing: without(expected, actual), unexpected: without(actual, expected) };
}

function without(all: readonly string[], taken: readonly string[]): string[] {
  const left = countEach(taken);
  const rest = all.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
  return rest.length > SHOWN ? [...rest.slice(0, SHOWN), `and ${String(rest.length - SHOWN)} more`] : rest;
}

function countEach(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

export function counts(all: readonly string[]): Record<string, number> {
  return Object.fromEntries([...countEach(all)].sort(([a], [b]) => (a < b ? -1 : 1)));
}
