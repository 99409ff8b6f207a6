import type { createDataSource, PageSource } from '@waypost/database';
import type { StackReporter } from '../../tools/dev-stack/index.js';
import type { BenchFlags } from './bench-flags.js';
import type { Calendar } from './calendar.js';
import type { Projector } from './workers/start-projector.js';
import type { HistoryStack } from './stack/history-stack.js';

/** What every measurement uses. */
export interface BenchContext {
  readonly flags: BenchFlags;
  readonly stack: HistoryStack;
  readonly calendar: Calendar;
  readonly dataSource: ReturnType<typeof createDataSource>;
  /** As public-api reads. */
  readonly pages: PageSource;
  readonly projector: Projector;
  readonly reporter: StackReporter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}
