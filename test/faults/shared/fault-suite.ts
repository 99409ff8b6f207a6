import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  createTerminalReporter,
  type DataDir,
  type DevStack,
  type Guardian,
  openDataDir,
  projectFile,
  startDevStack,
  startGuardian,
} from '../../../tools/dev-stack/index.js';
import type { AppName } from '../../../tools/dev-stack/start/start-flags.js';
import { productEnvironment } from '../../support/waypost-config.js';
import type { KafkaCluster } from './kafka-cluster.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a run works, and what it starts processes with. */
export interface Place {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  /** Of a user's shell. */
  readonly env: Environment;
  /** Of the registry given with `--registry`; else one is started with the first call, for all runs. */
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  /** An empty cluster to use instead of one of its own. */
  readonly cluster?: () => Promise<KafkaCluster>;
}

/** What a fault suite gets from the frame. */
export interface SuiteContext {
  readonly seed: number;
  /** Whether each fault is printed when it is made. */
  readonly verbose: boolean;
  readonly note: (line: string) => void;
  readonly during: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  /** @throws FlagError when the value is not a number of at least `least` */
  number(flag: string, least: number): number;
  text(flag: string): string;
  /** The built main file of an application. */
  program(app: AppName | 'cli'): string;
  /** Runs the work in a folder with ports of its own; ends every process that the work has left behind. */
  inPlace<T>(name: string, work: (place: Place) => Promise<T>): Promise<T>;
}

export interface FaultSuite<Result extends { readonly problems: readonly string[] }> {
  readonly name: string;
  /** The key of the verdict, `intact` or `broken`. */
  readonly verdictKey: string;
  /** Default values of the suite's own flags, besides those that all suites have. */
  readonly flags: Readonly<Record<string, string>>;
  readonly run: (context: SuiteContext) => Promise<Result>;
}

export class FlagError extends Error {}

/**
 * Runs a fault suite as a program: progress goes to standard error, the verdict as one line of JSON to standard output.
 * Exits with 0 when everything was intact, 1 when not, 2 for a wrong flag.
 *
 * All suites take `--seed N`, `--registry URL`, `--dist DIR` (another build), `--folder DIR` (kept; by default a temporary
 * folder that is kept only after a failure) and `--verbose`.
 */
export async function runFaultSuite<Result extends { readonly problems: readonly string[] }>(
  suite: FaultSuite<Result>,
): Promise<never> {
  try {
    process.exit(await runWith(suite, readFlags(suite.flags)));
  } catch (error) {
    const text = error instanceof FlagError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text ?? ''}\n`);
    process.exit(error instanceof FlagError ? 2 : 1);
  }
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

function readFlags(own: Readonly<Record<string, string>>): Flags {
  const options = Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, { type: 'string' as const, default: value }]),
  );
  try {
    return parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        registry: { type: 'string' },
        dist: { type: 'string' },
        folder: { type: 'string' },
        verbose: { type: 'boolean', default: false },
        ...options,
      },
    }).values;
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error));
  }
}

async function runWith<Result extends { readonly problems: readonly string[] }>(
  { name, verdictKey, run }: FaultSuite<Result>,
  flags: Flags,
): Promise<number> {
  const reporter = createTerminalReporter({ stream: process.stderr });
  const given = flags['folder'];
  const folder = typeof given === 'string' ? given : await mkdtemp(join(tmpdir(), `waypost-${name}-`));
  // As root, PostgreSQL (which the registry needs) runs as another user, who has to get in.
  if (given === undefined) await chmod(folder, 0o711);
  const env = productEnvironment();
  let registry: Promise<DevStack> | undefined;
  const startRegistry = async (brokers: readonly string[]): Promise<DevStack> =>
    startDevStack({
      dataDir: await openDataDir(join(folder, 'registry')),
      env,
      reporter,
      durable: false,
      external: { kafka: { brokers, clientId: name } },
    });
  const text = (flag: string): string => String(flags[flag]);
  const number = (flag: string, least: number): number => {
    const value = Number(text(flag));
    if (value >= least) return value;
    throw new FlagError(`--${flag} must be a number of at least ${String(least)}.`);
  };
  const registryUrl = async (brokers: readonly string[]): Promise<string> =>
    (flags['registry'] as string | undefined) ?? (await (registry ??= startRegistry(brokers))).registryUrl;
  let result: Result;
  try {
    result = await run({
      seed: Math.trunc(number('seed', 0)),
      verbose: flags['verbose'] === true,
      number,
      text,
      note: (line) => {
        reporter.note(line);
      },
      during: (title, work) => reporter.during(title, work),
      program: (app) => join((flags['dist'] as string | undefined) ?? projectFile('dist'), 'apps', app, 'src/main.js'),
      inPlace: (place, work) => inPlace(join(folder, place), { env, registryUrl }, work),
    });
  } finally {
    await (await registry?.catch(() => undefined))?.stop();
  }
  const isIntact = result.problems.length === 0;
  if (isIntact && given === undefined) await rm(folder, { recursive: true, force: true });
  else reporter.note(`Data and logs: ${folder}`);
  process.stdout.write(`${JSON.stringify({ [verdictKey]: isIntact ? 'intact' : 'broken', ...result })}\n`);
  return isIntact ? 0 : 1;
}

async function inPlace<T>(
  folder: string,
  shared: Pick<Place, 'env' | 'registryUrl'>,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const dataDir = await openDataDir(folder);
  const guardian = startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') });
  try {
    return await work({ ...shared, dataDir, guardian });
  } finally {
    // It also ends what a failed start has left.
    await guardian.close();
    await dataDir.release();
  }
}
