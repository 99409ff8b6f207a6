import { join, resolve } from 'node:path';
import { createDataSource, createPageSource } from '@waypost/database';
import type { StackReporter } from '../../tools/dev-stack/index.js';
import type { BenchFlags } from './bench-flags.js';
import { calendarFrom, calendarUntil } from './calendar.js';
import { measureAll } from './measure-all.js';
import { jsonLine } from './report/json-line.js';
import { reportText } from './report/report-text.js';
import { writeDocs } from './report/write-docs.js';
import { readFilled } from './scenarios/fill.js';
import { openHistoryStack, type HistoryStack } from './stack/history-stack.js';
import { startProjector } from './workers/start-projector.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface BenchOptions {
  readonly flags: BenchFlags;
  readonly env: Environment;
  readonly reporter: StackReporter;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface BenchOutcome {
  /** The JSON line. */
  readonly line: string;
  readonly faults: readonly string[];
}

/** As many connections as public-api has. */
const POOL_SIZE = 10;

/** Further settings of a developer must not change what is measured. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'];

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
    return { line: jsonLine(results), faults: results.plans.faults };
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

function passedOn(env: Environment): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
