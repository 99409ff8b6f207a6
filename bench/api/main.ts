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
try {
  const reporter = createTerminalReporter({ stream: process.stdout });
  const line = await runBench({ flags, env: benchEnvironment(), reporter, signal: stopping.signal, now: Date.now });
  process.stdout.write(`${line}\n`, () => process.exit(0));
} catch (error) {
  const text = error instanceof StackError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${String(text)}\n`);
  process.exit(1);
}
