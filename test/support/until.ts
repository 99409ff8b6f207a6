import { setTimeout as sleep } from 'node:timers/promises';

interface UntilOptions {
  /** A guard against hanging, not a promise about speed: generous enough for a machine that is busy elsewhere. */
  readonly timeoutMs?: number;
  /** Between two checks at most; longer for one that costs much. */
  readonly longestIntervalMs?: number;
}

const TIMEOUT_MS = 15_000;
const FIRST_INTERVAL_MS = 2;
const LONGEST_INTERVAL_MS = 100;
const INTERVAL_GROWTH = 1.2;

/**
 * Polls until the check holds and resolves with its value. A check that returns false or throws (a failed `expect`, say)
 * does not hold yet.
 *
 * @throws Error after `timeoutMs`: what the check threw last, or else its source
 */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS, longestIntervalMs = LONGEST_INTERVAL_MS }: UntilOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs;
  for (let intervalMs = FIRST_INTERVAL_MS; ; intervalMs = Math.min(intervalMs * INTERVAL_GROWTH, longestIntervalMs)) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== false) return value as Exclude<T, false>;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline)
      throw (failure ?? new Error(`Still false after ${String(timeoutMs)} ms: ${check.toString()}`)) as Error;
    await sleep(intervalMs);
  }
}

/**
 * For the absence of an effect, which no condition can signal: checks throughout `forMs` that the check holds.
 *
 * @throws Error as soon as it does not
 */
export async function holdsFor(forMs: number, check: () => unknown): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const leftMs = forMs - (performance.now() - startedAt);
    if ((await check()) === false)
      throw new Error(`False after ${String(Math.round(performance.now() - startedAt))} ms: ${check.toString()}`);
    if (leftMs <= 0) return;
    await sleep(Math.min(leftMs, LONGEST_INTERVAL_MS / 4));
  }
}

/**
 * Whether the promise settles before a timer that starts now. The order of two timers shows it, so that a machine that is
 * busy elsewhere delays both and breaks nothing.
 */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const tooLate = sleep(ms, false, { signal: stop.signal });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, tooLate]);
  } finally {
    stop.abort();
    tooLate.catch(() => undefined);
  }
}

/** Lets every callback and promise that is ready now run. No timer of the product can fire meanwhile. */
export function flushed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
