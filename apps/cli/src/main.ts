import { CommanderError } from 'commander';
import { createProgram } from './program.js';
import { callerDirectory } from './stack/stack-config.js';
import { CliError, isBrokenPipe } from './terminal/output.js';

const USAGE_EXIT_CODE = 2;

/** 0: done; 1: it failed, one sentence on standard error says why; 2: wrong usage. */
async function main(args: readonly string[]): Promise<number> {
  const terminal = { out: process.stdout, err: process.stderr };
  const program = createProgram({ terminal, now: Date.now, callerDir: callerDirectory() });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // commander has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    process.stderr.write(`${sentenceOf(error)}\n`);
    return error instanceof CliError ? error.exitCode : 1;
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return error.message === '' && errors.length > 0 ? sentenceOf(errors[0]) : error.message;
}

// A reader that has gone is not a failure: what a command does, and its exit code, count all the same (`endsWithReader`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isBrokenPipe(error)) process.exit(1);
  });
}

const exitCode = await main(process.argv.slice(2));
// Ends also when a client library has left a timer or a socket behind; what was written goes out first.
process.stdout.write('', () => process.exit(exitCode));
