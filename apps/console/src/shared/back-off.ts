const PATIENT_AFTER_MS = 30_000;
const PATIENT_EVERY_MS = 5_000;

/** How often to ask for what somebody waits for: what has taken long is not there sooner for being asked for often. */
export function backedOffMs(everyMs: number, waitedMs: number): number {
  return waitedMs < PATIENT_AFTER_MS ? everyMs : Math.max(everyMs, PATIENT_EVERY_MS);
}
