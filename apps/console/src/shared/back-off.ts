const PATIENT_AFTER_MS = 30_000;
const PATIENT_EVERY_MS = 5_000;

/** How often to poll for a result that the reader waits for. One that has taken long does not come sooner by polling often. */
export function backedOffMs(everyMs: number, waitedMs: number): number {
  return waitedMs < PATIENT_AFTER_MS ? everyMs : Math.max(everyMs, PATIENT_EVERY_MS);
}
