import { createTerminalReporter, StackError } from '../../tools/dev-stack/index.js';
import { benchEnvironment } from './bench-config.js';
import { parseBenchFlags } from './bench-flags.js';
import { runBench } from './program.js';

// A reader that goes away must not end a run that takes long.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    stopping.abort(new StackError('part_failed', `Stopped by ${name}.`));
  });

const flags = parseBenchFlags(process.argv.slice(2));
const reporter = createTerminalReporter({ stream: process.stdout });
const { signal } = stopping;
try {
  const { line, faults } = await runBench({ flags, env: benchEnvironment(), reporter, signal, now: Date.now });
  for (const fault of faults) process.stderr.write(`A plan is not as it must be: ${fault}\n`);
  process.stdout.write(`${line}\n`, () => process.exit(faults.length === 0 ? 0 : 1));
} catch (error) {
  const text = error instanceof StackError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${String(text)}\n`);
  process.exit(1);
}
