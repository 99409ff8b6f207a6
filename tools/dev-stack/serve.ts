/**
 * A stack without applications: `serve.ts --data-dir DIR`. Prints one JSON line when it is ready and runs until its
 * standard input ends or a signal stops it. The integration tests use it.
 */
import { parseArgs } from 'node:util';
import { openDataDir } from './data-dir/data-dir.js';
import { startDevStack } from './dev-stack.js';
import { serveEnvironment } from './serve-config.js';
import { createTerminalReporter } from './stack-reporter.js';

async function serve(folder: string, stopping: AbortSignal): Promise<void> {
  const stack = await startDevStack({
    dataDir: await openDataDir(folder),
    env: serveEnvironment(),
    durable: false,
    reporter: createTerminalReporter({ stream: process.stderr }),
    signal: stopping,
  });
  const { kafka, registryUrl, databaseUrl } = stack;
  process.stdout.write(`${JSON.stringify({ brokers: kafka.brokers, registryUrl, databaseUrl, pids: stack.pids() })}\n`);
  await new Promise<void>((resolve) => {
    if (stopping.aborted) resolve();
    stopping.addEventListener('abort', () => resolve());
  });
  await stack.stop();
}

const stopping = new AbortController();
function stop(): void {
  stopping.abort();
}
process.on('SIGINT', stop).on('SIGTERM', stop);
process.stdin.on('end', stop).on('close', stop).resume();
// The reader may be gone already.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const { values } = parseArgs({ options: { 'data-dir': { type: 'string' } } });
try {
  if (values['data-dir'] === undefined) throw new Error('--data-dir DIR is missing.');
  await serve(values['data-dir'], stopping.signal);
  process.exit(0);
} catch (error) {
  if (!stopping.signal.aborted) process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(stopping.signal.aborted ? 0 : 1);
}
