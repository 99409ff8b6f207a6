import { join, resolve } from 'node:path';
import { createDataSource, createPageSource } from '@waypost/database';
import { runBenchmark } from '../shared/run-benchmark.js';
import { calendarFrom, calendarUntil } from './bench-context.js';
import { parseBenchFlags } from './bench-flags.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/figures.js';
import { reportText, writeDocs } from './report/report-text.js';
import { readFilled } from './scenarios/fill.js';
import { READER } from './scenarios/pages.js';
import { openHistoryStack } from './stack/history-stack.js';
import { startProjector } from './workers/start-projector.js';

/** As many connections as public-api has. */
const POOL_SIZE = 10;

await runBenchmark(parseBenchFlags(process.argv.slice(2)), async (run) => {
  const { flags, environment, reporter, signal } = run;
  const folder = resolve(flags.dataDir);
  const earlier = await readFilled((name) => join(folder, name));
  // A history of another size is of no use, nor is one whose filling was cut short.
  const keep = flags.keep && earlier?.deliveries === flags.deliveries;
  const stack = await openHistoryStack({ folder, environment, reporter, signal, keep, drop: !flags.keep });
  const stops: (() => void | Promise<void>)[] = [() => stack.stop()];
  try {
    const calendar = keep ? calendarFrom(earlier.fromMs) : calendarUntil(run.now());
    const dataSource = await createDataSource(stack.databaseUrl, { applicationName: 'bench' }).initialize();
    stops.push(() => dataSource.destroy());
    const pages = createPageSource(stack.databaseUrl, { poolSize: POOL_SIZE, applicationName: READER });
    stops.push(() => pages.close());
    const projector = await startProjector(stack, environment);
    stops.push(() => projector.end());
    const now = (): number => performance.now();
    const results = await measureAll({ flags, stack, calendar, dataSource, pages, projector, reporter, signal, now });
    reporter.note(reportText(flags, results));
    if (flags.writeDocs) await writeDocs(flags, results);
    return { line: jsonLine(results), faults: results.plans.faults.map((fault) => `A query plan is wrong: ${fault}`) };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
