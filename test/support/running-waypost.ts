import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli, type CliResult } from './run-cli.js';

/** `stack.json`. */
export interface StackInfo {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<string, readonly number[]>>;
}

/** A product that runs, used through what its users have: the data directory, the command line, process ids. */
export interface RunningWaypost {
  readonly dataDir: string;
  /** Read anew at each call: process ids and API keys change. */
  info(): StackInfo;
  /** A command of the `waypost` command line on this stack. @throws when it fails. */
  cli(...args: readonly string[]): Promise<string>;
  /** Like `cli`; the JSON objects it printed, one a line. */
  cliLines<T>(...args: readonly string[]): Promise<T[]>;
  /** The same, whatever its exit code. */
  tryCli(...args: readonly string[]): Promise<CliResult>;
  pidOf(name: string): number;
  /** SIGKILL to one process of a part or application; returns its process id. */
  kill(name: string): number;
}

export function runningWaypost(dataDir: string): RunningWaypost {
  const stackFile = join(dataDir, 'stack.json');
  const info = (): StackInfo => JSON.parse(readFileSync(stackFile, 'utf8')) as StackInfo;
  const tryCli = (...args: readonly string[]) => runCli([...args, '--data-dir', dataDir]);
  const cli = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await tryCli(...args);
    if (code === 0) return stdout;
    throw new Error(`waypost ${args.join(' ')} failed with exit code ${String(code)}:\n${stderr}${stdout}`);
  };
  const pidOf = (name: string): number => {
    const [pid] = info().pids[name] ?? [];
    if (pid === undefined) throw new Error(`No process of ${name} is known.`);
    return pid;
  };
  return {
    dataDir,
    info,
    cli,
    cliLines: async <T>(...args: readonly string[]) => jsonLines<T>(await cli(...args)),
    tryCli,
    pidOf,
    kill(name) {
      const pid = pidOf(name);
      process.kill(pid, 'SIGKILL');
      return pid;
    },
  };
}

function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T);
}
