import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDataSource, createPageSource } from '@waypost/database';
import { createDeliveryHistory } from '@waypost/history-store';

import { passedOn } from '../shared/bench-config.js';
import type { BenchOutcome, BenchRun } from '../shared/run-benchmark.js';
import { type BenchContext, calendarFrom, calendarUntil } from './bench-context.js';
import type { BenchResults } from './bench-results.js';
import type { BenchFlags } from './bench-flags.js';
import { jsonLine } from './report/figures.js';
import { reportText } from './report/report-text.js';
import { writeDocs } from './report/write-docs.js';
import { fill, readFilled } from './scenarios/fill.js';
import { measureNaive, prepareNaive } from './scenarios/naive.js';
import { findHoldings, pageShapes } from './scenarios/page-shapes.js';
import { measurePages, startFlow } from './scenarios/pages.js';
import { checkPlans } from './scenarios/plans.js';
import { measureRetention, prepareExpiredDay } from './scenarios/retention.js';
import { measureSize } from './scenarios/size.js';
import { type HistoryStack, openHistoryStack } from './stack/history-stack.js';
import { startProjector } from './workers/start-projector.js';

type BenchOptions = BenchRun<BenchFlags>;

/** As many connections as public-api has. */
const POOL_SIZE = 10;

export async function runBench(options: BenchOptions): Promise<BenchOutcome> {
  const { flags, env, reporter, signal } = options;
  const environment = passedOn(env);
  const stack = await openStack(options, environment);
  const stops: (() => void | Promise<void>)[] = [() => stack.stop()];
  try {
    const kept = await readFilled(stack.file);
    const calendar = kept === null ? calendarUntil(options.now()) : calendarFrom(kept.fromMs);
    const dataSource = await createDataSource(stack.databaseUrl, { applicationName: 'bench' }).initialize();
    stops.push(() => dataSource.destroy());
    const pages = createPageSource(stack.databaseUrl, { poolSize: POOL_SIZE, applicationName: 'bench reader' });
    stops.push(() => pages.close());
    const projector = await startProjector(stack, environment);
    stops.push(() => {
      projector.end();
    });
    const now = (): number => performance.now();
    const results = await measureAll({ flags, stack, calendar, dataSource, pages, projector, reporter, signal, now });
    reporter.note(reportText(flags, results));
    if (flags.writeDocs) await writeDocs(flags, results);
    return { line: jsonLine(results), faults: results.plans.faults.map((fault) => `A query plan is wrong: ${fault}`) };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** What a former run has kept is of no use to a run of another size, nor is what was cut short. */
async function openStack(options: BenchOptions, environment: Record<string, string>): Promise<HistoryStack> {
  const { flags, reporter, signal } = options;
  const folder = resolve(flags.dataDir);
  const kept = await readFilled((name) => join(folder, name));
  const keep = flags.keep && kept?.deliveries === flags.deliveries;
  return openHistoryStack({ folder, environment, reporter, signal, keep, drop: !flags.keep });
}

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
