import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  readonly timeoutMs: number;
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
}

/**
 * Tries until the work succeeds, and resolves to its result. Readiness is found by doing real work, never by a fixed
 * wait.
 * @throws the last failure when the time is over, also of an attempt that never ends, or the signal's reason.
 */
export async function waitUntil<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { timeoutMs, intervalMs = 100, signal, now = () => performance.now() } = options;
  const deadline = now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await withinMs(attempt(), timeoutMs);
    } catch (error) {
      if (now() >= deadline) throw error;
    }
    await sleep(intervalMs, undefined, signal === undefined ? {} : { signal });
  }
}

async function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  const ended = new AbortController();
  const overdue = async (): Promise<never> => {
    await sleep(ms, undefined, { signal: ended.signal });
    throw new Error('The attempt has not ended in time.');
  };
  try {
    return await Promise.race([work, overdue()]);
  } finally {
    ended.abort();
  }
}
