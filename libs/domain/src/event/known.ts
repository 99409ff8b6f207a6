/**
 * undefined, which JSON.stringify() leaves out, when the value is unknown. A reported 0 or false is known; a number
 * that is not finite would be written as null.
 */
export function known<T extends string | number | boolean>(value: T | null): T | undefined {
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return undefined;
  return value;
}
