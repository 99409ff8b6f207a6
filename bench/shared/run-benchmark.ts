import { join } from 'node:path';
import { projectRoot } from '../../tools/dev-stack/project-root.js';
import { StackError } from '../../tools/dev-stack/stack-error.js';
import { createTerminalReporter, type StackReporter } from '../../tools/dev-stack/stack-reporter.js';
import { benchEnvironment, passedOn } from './bench-config.js';
import type { CommonFlags } from './bench-flags.js';
import { type Applications, createApplications } from './stack/applications.js';
import { type BenchStack, openBenchStack, serveBenchStack } from './stack/bench-stack.js';

/** What a benchmark needs of its process. */
export interface BenchRun<Flags> {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of every process under measurement. */
  readonly environment: Readonly<Record<string, string>>;
  readonly reporter: StackReporter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface BenchOutcome {
  /** The result as one line of JSON; null: nothing was measured. */
  readonly line: string | null;
  /** Results that are wrong rather than slow: the exit code is 1 if there are any. */
  readonly faults?: readonly string[];
}

/** Runs a benchmark as a process of its own and ends it: exit code 0, or 1 with one sentence on standard error. */
export async function runBenchmark<Flags>(
  flags: Flags,
  run: (options: BenchRun<Flags>) => Promise<BenchOutcome>,
): Promise<void> {
  // A reader that goes away must not end a long run.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => stopping.abort(new StackError('part_failed', `Stopped by ${name}.`)));
  const reporter = createTerminalReporter({ stream: process.stdout });
  const { signal } = stopping;
  try {
    const env = benchEnvironment();
    const outcome = await run({ flags, env, environment: passedOn(env), reporter, signal, now: Date.now });
    const { line, faults = [] } = outcome;
    for (const fault of faults) process.stderr.write(`${fault}\n`);
    process.stdout.write(line === null ? '' : `${line}\n`, () => process.exit(faults.length === 0 ? 0 : 1));
  } catch (error) {
    const text = error instanceof StackError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${String(text)}\n`);
    process.exit(1);
  }
}

interface StackFlags extends CommonFlags {
  readonly dist: string | undefined;
  readonly serve?: boolean;
}

/** What a benchmark of applications on a stack needs. */
export interface StackRun<Flags> extends BenchRun<Flags> {
  readonly stack: BenchStack;
  readonly applications: Applications;
}

/** Runs a benchmark on a stack; with `--serve`, only keeps a stack running for other runs. Resolves with its JSON line. */
export function runOnStack<Flags extends StackFlags>(
  flags: Flags,
  measure: (run: StackRun<Flags>) => Promise<string>,
): Promise<void> {
  return runBenchmark(flags, async (run) => {
    const { env, environment, reporter, signal } = run;
    const options = { folder: flags.dataDir, env, reporter, signal };
    if (flags.serve === true) {
      await serveBenchStack(options);
      return { line: null };
    }
    const stack = await openBenchStack({ ...options, keep: flags.keep });
    try {
      const dist = flags.dist ?? join(projectRoot(), 'dist');
      const applications = createApplications({ stack, dist, environment, signal });
      return { line: await measure({ ...run, stack, applications }) };
    } finally {
      await stack.stop();
    }
  });
}
