import type { ResendBatch } from './resend-batch.js';

export interface Run {
  readonly done: Promise<void>;
  /** Waits for the current request, then returns the batch as it is. */
  readonly stop: () => Promise<ResendBatch>;
}

/** By the id of their batch. They continue while the tab shows another page; otherwise the rest would silently never begin. */
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

/** Signing out, or switching to another fleet, stops all resends. */
export function stopRuns(): void {
  for (const run of runs.values()) void run.stop();
}

function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
