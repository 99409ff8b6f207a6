import type { ResendBatch } from './resend-batch.js';

export interface Run {
  readonly done: Promise<void>;
  /** Lets the request that is under way end, and returns the batch as it is then. */
  readonly stop: () => Promise<ResendBatch>;
}

/** By the id of their batch. They go on while the tab shows another page: what is missing would not be begun without a word. */
const runs = new Map<string, Run>();

export function runOf(batchId: string): Run | undefined {
  return runs.get(batchId);
}

/** Has the browser ask before it closes the tab in the meantime. */
export async function keepRun(batchId: string, run: Run): Promise<void> {
  runs.set(batchId, run);
  addEventListener('beforeunload', askToStay);
  try {
    await run.done;
  } finally {
    // After a sign-out, another run of the same batch may have begun.
    if (runs.get(batchId) === run) runs.delete(batchId);
    if (runs.size === 0) removeEventListener('beforeunload', askToStay);
  }
}

/** Whoever signs out, or turns to another fleet, sends nothing more. */
export function stopRuns(): void {
  for (const run of runs.values()) void run.stop();
}

function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
