import { createHash } from 'node:crypto';

type FilterValue = string | number | boolean;

/** Absent, undefined and null all mean "not filtered". A list is a set. */
export type QueryFilters = Readonly<Record<string, FilterValue | readonly FilterValue[] | null | undefined>>;

/** equal for queries with the same filters in any order. The limit and the position are not part of it. */
export function queryFingerprint(filters: QueryFilters): string {
  const asked = Object.entries(filters).filter(([, value]) => value !== null && value !== undefined);
  const stable = asked.map(([name, value]) => [name, Array.isArray(value) ? sortedSet(value) : value] as const);
  stable.sort(([left], [right]) => compareText(left, right));
  return createHash('sha256').update(JSON.stringify(stable)).digest('base64url').slice(0, 22);
}

function sortedSet(values: readonly FilterValue[]): FilterValue[] {
  return [...new Set(values)].sort((left, right) => compareText(String(left), String(right)));
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
