import { createTerminalReporter, StackError, type StackReporter } from '../../tools/dev-stack/index.js';
import { benchEnvironment, type Environment } from './bench-config.js';

/** What a benchmark needs of its process. */
export interface BenchRun<Flags> {
  readonly flags: Flags;
  readonly env: Environment;
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
    process.on(name, () => {
      stopping.abort(new StackError('part_failed', `Stopped by ${name}.`));
    });
  const reporter = createTerminalReporter({ stream: process.stdout });
  try {
    const { signal } = stopping;
    const { line, faults = [] } = await run({ flags, env: benchEnvironment(), reporter, signal, now: Date.now });
    for (const fault of faults) process.stderr.write(`${fault}\n`);
    process.stdout.write(line === null ? '' : `${line}\n`, () => process.exit(faults.length === 0 ? 0 : 1));
  } catch (error) {
    const text = error instanceof StackError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${String(text)}\n`);
    process.exit(1);
  }
}
