import type { FailoverTimes } from './failover.js';
import type { FaultRunResult } from './fault-run.js';

/** The last line of the suite. */
export interface Verdict {
  readonly integrity: 'intact' | 'broken';
  readonly seed: number;
  readonly injected: number;
  readonly runs: readonly FaultRunResult[];
  readonly failover: FailoverTimes | null;
  readonly problems: readonly string[];
}

export function verdictOf(
  seed: number,
  runs: readonly FaultRunResult[],
  failover: FailoverTimes | null,
  failoverProblems: readonly string[],
): Verdict {
  const problems = [...failoverProblems, ...runs.flatMap((run) => run.problems)];
  const injected = runs.reduce((sum, run) => sum + run.injected, 0);
  return { integrity: problems.length === 0 ? 'intact' : 'broken', seed, injected, runs, failover, problems };
}

export function describeRun(run: FaultRunResult): string[] {
  const faults = Object.entries(run.faults).sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...faults.map(([kind]) => kind.length));
  return [
    ...faults.map(([kind, count]) => `    ${kind.padEnd(width)}  ${String(count)}`),
    `  ${String(run.injected)} faults, seed ${String(run.seed)}; ${String(run.pings)} pings, ${String(run.events)} events, ` +
      `${String(run.rejections)} rejected, ${String(run.devices)} devices; ` +
      (run.drainedAfterMs === null ? 'never drained' : `drained ${String(run.drainedAfterMs)} ms after the last fault`),
    run.problems.length === 0 ? '  intact: nothing missing, nothing twice, order kept, nobody stuck' : '  BROKEN:',
    ...run.problems.map((problem) => `    ${problem}`),
  ];
}
