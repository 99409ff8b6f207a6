import type { Answer } from './answer.js';
import type { MachineFacts } from './machine-facts.js';
import type { DrainRun } from './scenarios/drain.js';
import type { FailoverRun } from './scenarios/failover.js';
import type { LatencyRun } from './scenarios/latency.js';
import type { RestoreRun } from './scenarios/restore.js';

/** Everything that a run of the benchmark has measured. A scenario that was not asked for has no runs. */
export interface BenchResults {
  readonly machine: MachineFacts;
  readonly backlog: { readonly pings: number; readonly devices: number };
  readonly rounds: number;
  /** What the rules make of the backlog of drain and failover; null: neither has run. */
  readonly expected: Answer | null;
  readonly drain: readonly DrainRun[];
  readonly latency: readonly LatencyRun[];
  readonly restore: readonly RestoreRun[];
  readonly failover: readonly FailoverRun[];
  /** The backlog with nothing asked for, with positions alone and with all rules, in turn. */
  readonly rules: readonly DrainRun[];
  /** What the rules for positions make of that backlog. */
  readonly rulesExpected: Answer | null;
}
