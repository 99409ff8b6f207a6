export const DAY_MS = 86_400_000;

/** The only place where the console reads the clock. */
export function nowMs(): number {
  return Date.now();
}
