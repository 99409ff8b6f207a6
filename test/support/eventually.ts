import { setTimeout as sleep } from 'node:timers/promises';

interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Repeats an assertion, or a question, until it holds; its last failure when it never does. */
export async function eventually<T>(attempt: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { timeoutMs = 15_000, intervalMs = 50 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await sleep(intervalMs);
  }
}
