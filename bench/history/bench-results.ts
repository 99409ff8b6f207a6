import type { FillRun } from './scenarios/fill.js';
import type { NaiveRun } from './scenarios/naive.js';
import type { PagesRun } from './scenarios/pages.js';
import type { PlansRun } from './scenarios/plans.js';
import type { RetentionRun } from './scenarios/retention.js';
import type { SizeRun } from './scenarios/size.js';

/** Everything that a run of the benchmark has measured. */
export interface BenchResults {
  readonly fill: FillRun;
  readonly size: SizeRun;
  readonly plans: PlansRun;
  readonly pages: PagesRun;
  readonly retention: RetentionRun;
  /** null: it was not asked for. */
  readonly naive: NaiveRun | null;
}
