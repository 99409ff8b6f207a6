import { parseArgs } from 'node:util';
import { productEnvironment } from '../../support/waypost-config.js';

export type RunName = 'failover' | 'single' | 'cluster';

export interface IntegrityOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly runs: readonly RunName[];
  /** A registry that is there already; else one is started. */
  readonly registryUrl: string | undefined;
  /** Folder for data and logs, which is kept; else a temporary one, which is deleted when all is well. */
  readonly folder: string | undefined;
  readonly verbose: boolean;
  /** A user's environment, for the processes that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const ALL_RUNS: readonly RunName[] = ['failover', 'single', 'cluster'];

/** @throws Error saying which flag is wrong */
export function readOptions(args: readonly string[]): IntegrityOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '8' },
      runs: { type: 'string', default: ALL_RUNS.join(',') },
      registry: { type: 'string' },
      folder: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const runs = values.runs.split(',').filter((name) => ALL_RUNS.includes(name as RunName)) as RunName[];
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  if (runs.join(',') !== values.runs) throw new Error(`--runs must be a list of ${ALL_RUNS.join(', ')}.`);
  return {
    seed,
    minutes,
    runs,
    registryUrl: values.registry,
    folder: values.folder,
    verbose: values.verbose,
    env: productEnvironment(),
  };
}
