import type { BacklogRun } from './scenarios/backlog.js';
import type { DeadRun, FailingRun } from './scenarios/dead.js';
import type { CapacityRun, ThroughputRun } from './scenarios/healthy.js';
import type { KillRun } from './scenarios/kill.js';
import type { LatencyRun } from './scenarios/latency.js';
import type { LatenessRun } from './scenarios/lateness.js';

/** Everything that a run of the benchmark has measured; null: it was not asked for. */
export interface BenchResults {
  readonly capacity: CapacityRun | null;
  readonly healthy: ThroughputRun | null;
  readonly latency: LatencyRun | null;
  readonly fanOut: ThroughputRun | null;
  readonly slow: ThroughputRun | null;
  readonly dead: readonly DeadRun[];
  readonly failing: FailingRun | null;
  readonly backlog: BacklogRun | null;
  readonly lateness: LatenessRun | null;
  readonly kill: KillRun | null;
}
