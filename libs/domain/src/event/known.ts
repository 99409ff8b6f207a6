/**
 * The value, or undefined (which JSON.stringify leaves out) when it is unknown. A reported 0 or false is known; a number
 * that is not finite would be written as null, so it counts as unknown.
 */
export function known<T extends string | number | boolean>(value: T | null): T | undefined {
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return undefined;
  return value;
}
