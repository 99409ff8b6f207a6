import { toError } from './errors.js';

/** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
export function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * Settles as `work` does, or rejects with the signal's reason if the work is still running `graceMs` after the abort.
 * The listener is removed when the work ends, so that a signal that lives for months does not collect listeners, as
 * `Promise.race` against a long-lived promise would.
 */
export function settleOrAbort<T>(work: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const giveUp = (): void => reject(toError(signal.reason));
    const onAbort = (): void => {
      if (graceMs === 0) giveUp();
      else timer = setTimeout(giveUp, graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    });
  });
}
