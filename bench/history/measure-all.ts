import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryHistory } from '@waypost/history-store';
import type { BenchContext } from './bench-context.js';
import { type FiguresRun, measureFigures } from './scenarios/figures.js';
import { fill, type FillRun } from './scenarios/fill.js';
import { findHoldings, pageShapes } from './scenarios/page-shapes.js';
import { measurePages, type PagesRun, SEEDS, startFlow } from './scenarios/pages.js';
import { checkPlans, type PlansRun } from './scenarios/plans.js';
import { measureRetention, prepareExpiredDay, type RetentionRun } from './scenarios/retention.js';
import { measureSize, type SizeRun } from './scenarios/size.js';

/** Everything that a run of the benchmark has measured. */
export interface BenchResults {
  readonly fill: FillRun;
  readonly size: SizeRun;
  readonly plans: PlansRun;
  readonly figures: readonly FiguresRun[];
  readonly pages: PagesRun;
  readonly retention: RetentionRun;
}

/** What was written before is still on its way to the disk. */
const SETTLE_MS = 10_000;

/** Fills what is not there, and measures one thing after another; from the pages on, the projection goes on beside it. */
export async function measureAll(context: BenchContext): Promise<BenchResults> {
  const { dataSource, pages: source, flags, reporter, signal } = context;
  const history = createDeliveryHistory({ pages: source });
  const filled = await fill(context);
  // Day by day the server has done this long ago; here fifteen days were written within minutes.
  await reporter.during('Vacuuming', () => dataSource.query('VACUUM (ANALYZE) deliveries, delivery_figures'));
  const size = await measureSize(context);
  const holdings = await findHoldings(context, history);
  const shapes = pageShapes(holdings);
  const plans = await checkPlans(context, shapes);
  const figures = await measureFigures(context);
  await dataSource.query('CHECKPOINT');
  await reporter.during('Letting the disk come to rest', () => sleep(SETTLE_MS, undefined, { signal }));
  const idle = await measurePages(context, history, shapes, SEEDS.alone);
  await prepareExpiredDay(context);
  const flow = await startFlow(context);
  try {
    await reporter.during('Letting the projection run in', () => sleep(SETTLE_MS, undefined, { signal }));
    const before = flow.mark();
    const pages = await measurePages(context, history, shapes, SEEDS.beside);
    const projectedPerSecond = flow.rate(before);
    const retention = await measureRetention(context, history, shapes);
    return { fill: filled, size, plans, figures, pages: { idle, pages, projectedPerSecond }, retention };
  } finally {
    await flow.stop();
    // So that the server stops at once.
    if (flags.keep) await dataSource.query('CHECKPOINT');
  }
}
