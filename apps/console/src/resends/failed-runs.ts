/** One attempt to begin a resend. */
export interface BegunRun {
  /** Of a later attempt it is higher. */
  readonly mutationId: number;
  readonly batchId: string;
  readonly status: string;
}

/** The attempts that failed, and were not repeated since. */
export function failedRuns(runs: readonly BegunRun[]): readonly BegunRun[] {
  const last = new Map(runs.map((run) => [run.batchId, run]));
  return [...last.values()].filter(({ status }) => status === 'error');
}

/** The attempt up to which a reader knows of the failures on the page of the resends. */
export function seenUpTo(runs: readonly BegunRun[]): number {
  return Math.max(0, ...failedRuns(runs).map(({ mutationId }) => mutationId));
}

/** How many failures came after that. */
export function unseenCount(runs: readonly BegunRun[], seen: number): number {
  return failedRuns(runs).filter(({ mutationId }) => mutationId > seen).length;
}
