import { setTimeout as sleep } from 'node:timers/promises';

/** Writes records at a steady rate, whatever becomes of them. */
export interface SteadyWriter {
  /** Records that the brokers have confirmed so far. */
  readonly written: () => number;
  /** Writes no more; resolves when the last record is confirmed. @throws what `write` has thrown */
  stop(): Promise<void>;
}

export interface SteadyWriterOptions {
  readonly perSecond: number;
  readonly tickMs: number;
  /** In one call of `write`; after as many the next call follows at once. */
  readonly mostAtOnce: number;
  readonly write: (count: number) => Promise<unknown>;
}

export function startSteadyWriter({ perSecond, tickMs, mostAtOnce, write }: SteadyWriterOptions): SteadyWriter {
  let written = 0;
  let stopped = false;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    while (!stopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) - written;
      const count = Math.min(due, mostAtOnce);
      if (count > 0) {
        await write(count);
        written += count;
      }
      if (due < mostAtOnce) await sleep(tickMs);
    }
  }
  const running = run();
  // Awaited by stop(); until then a failure must not end the process.
  running.catch(() => undefined);
  return {
    written: () => written,
    stop() {
      stopped = true;
      return running;
    },
  };
}
