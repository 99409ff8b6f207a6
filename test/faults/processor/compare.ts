import { differences } from '../../support/differences.js';

const MOST_SHOWN = 4;

/** What is missing, too much, or in another order, of the lines of each key; empty when nothing is. */
export function compareByKey(
  what: string,
  actual: ReadonlyMap<string, readonly string[]>,
  expected: ReadonlyMap<string, readonly string[]>,
): string[] {
  const problems: string[] = [];
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    const problem = compareLines(actual.get(key) ?? [], expected.get(key) ?? []);
    if (problem !== null) problems.push(`${what} of ${key}: ${problem}`);
  }
  return shortened(problems, what);
}

export function compareValues(
  what: string,
  actual: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): string[] {
  const lists = (map: ReadonlyMap<string, string>) => new Map([...map].map(([key, value]) => [key, [value]] as const));
  return compareByKey(what, lists(actual), lists(expected));
}

function compareLines(actual: readonly string[], expected: readonly string[]): string | null {
  const { missing, unexpected } = differences(actual, expected);
  if (missing.length > 0 || unexpected.length > 0)
    return `missing [${missing.join('; ')}], unexpected or twice [${unexpected.join('; ')}]`;
  const place = actual.findIndex((line, index) => line !== expected[index]);
  return place < 0 ? null : `in another order from place ${String(place)}: ${actual[place] ?? ''}`;
}

function shortened(problems: readonly string[], what: string): string[] {
  const left = problems.length - MOST_SHOWN;
  return left <= 0 ? [...problems] : [...problems.slice(0, MOST_SHOWN), `${what}: and ${String(left)} keys more`];
}
