import { setTimeout as sleep } from 'node:timers/promises';
import { createDeliveryHistory } from '@waypost/history-store';
import type { BenchContext } from './bench-context.js';
import type { BenchResults } from './bench-results.js';
import { fill } from './scenarios/fill.js';
import { startFlow } from './scenarios/flow.js';
import { findHoldings } from './scenarios/holdings.js';
import { measureNaive, prepareNaive } from './scenarios/naive.js';
import { pageShapes } from './scenarios/page-shapes.js';
import { measurePages } from './scenarios/pages.js';
import { checkPlans } from './scenarios/plans.js';
import { measureRetention, prepareExpiredDay } from './scenarios/retention.js';
import { measureSize } from './scenarios/size.js';

/** What was written before is still on its way to the disk. */
const SETTLE_MS = 10_000;

/** Fills what is not there, and measures one thing after another; from the pages on, the projection goes on beside it. */
export async function measureAll(context: BenchContext): Promise<BenchResults> {
  const { dataSource, pages: source, flags, reporter, signal } = context;
  const history = createDeliveryHistory({ pages: source });
  const filled = await fill(context);
  // Day by day the server has done this long ago; here fifteen days were written within minutes.
  await reporter.during('Vacuuming', () => dataSource.query('VACUUM (ANALYZE) deliveries'));
  const size = await measureSize(context);
  const holdings = await findHoldings(context, history);
  const shapes = pageShapes(holdings);
  const plans = await checkPlans(context, shapes);
  const naiveWindow = flags.naive === 0 ? null : await prepareNaive(context);
  await prepareExpiredDay(context);
  const flow = await startFlow(context);
  try {
    await reporter.during('Letting the projection run in', () => sleep(SETTLE_MS, undefined, { signal }));
    const pages = await measurePages(context, history, shapes, flow);
    const retention = await measureRetention(context, history, shapes);
    const naive = naiveWindow === null ? null : await measureNaive(context, history, holdings.fleets, naiveWindow);
    return { fill: filled, size, plans, pages, retention, naive };
  } finally {
    await flow.stop();
    // So that the server stops at once.
    if (flags.keep) await dataSource.query('CHECKPOINT');
  }
}
