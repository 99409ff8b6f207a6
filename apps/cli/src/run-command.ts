import { CommanderError } from 'commander';
import type { ProgramContext } from './command-definitions/command.js';
import { createProgram } from './program.js';
import { CliError } from './terminal/output.js';

const USAGE_EXIT_CODE = 2;

/**
 * Runs one command, as `waypost ARGS` does.
 * @returns its exit code. 0: done; 1: it failed, one sentence on standard error says why; 2: wrong usage
 */
export async function runCommand(args: readonly string[], context: ProgramContext): Promise<number> {
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // commander has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    context.terminal.err.write(`${sentenceOf(error)}\n`);
    return error instanceof CliError ? error.exitCode : 1;
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return error.message === '' && errors.length > 0 ? sentenceOf(errors[0]) : error.message;
}
