/** The only place where the console reads the clock. */
export function nowMs(): number {
  return Date.now();
}
