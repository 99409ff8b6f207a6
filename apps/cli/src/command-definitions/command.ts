import { isAbsolute, resolve } from 'node:path';
import type { Command } from 'commander';
import { parseTime } from '../parse-arguments.js';
import { defaultDataDir } from '../stack/stack-config.js';
import { isBrokenPipe, type Terminal, usageError } from '../terminal/output.js';

export interface ProgramContext {
  readonly terminal: Terminal;
  readonly now: () => number;
  /** Where the user called from; relative file names are resolved against it. */
  readonly callerDir: string;
  /** Ends a command that only prints, once nothing reads its results any more: "read ... | head". */
  readonly endWithReader: () => void;
}

/** Flags of every command. */
export interface Shared {
  readonly dataDir: string;
}

/** A command that runs; every one takes the data directory. */
export function leaf(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .option('--data-dir <dir>', 'data directory of the stack', defaultDataDir);
}

export interface RangeFlags extends Shared {
  readonly from?: number;
  readonly to?: number;
  readonly device?: string;
}

/** What a command takes for flags that were not given. */
export const NO_RANGE = { from: null, to: null, device: null } as const;

export function withTimes(command: Command, what: string): Command {
  return command
    .option('--from <time>', `only ${what} at or after this time (RFC 3339, or epoch milliseconds)`, parseTime)
    .option('--to <time>', `only ${what} before this time`, parseTime)
    .hook('preAction', (called) => {
      const { from, to } = called.opts<{ from?: number; to?: number }>();
      if (from !== undefined && to !== undefined && from >= to) throw usageError('--from must be before --to.');
    });
}

/** A command that only prints what it finds ends well when its reader has seen enough, as in "read ... | head". */
export function endsWithReader(command: Command, { terminal, endWithReader }: ProgramContext): Command {
  return command.hook('preAction', () => {
    terminal.out.on('error', (error) => {
      if (isBrokenPipe(error)) endWithReader();
    });
  });
}

export function fromCaller(callerDir: string, file: string): string {
  return isAbsolute(file) ? file : resolve(callerDir, file);
}

export function fromCallerIfAny(callerDir: string, file: string | undefined): string | null {
  return file === undefined ? null : fromCaller(callerDir, file);
}
