import { parseArgs } from 'node:util';
import { productEnvironment } from '../../support/waypost-config.js';

export interface ProjectionIntegrityOptions {
  readonly seed: number;
  /** Of faults; 0: none. */
  readonly minutes: number;
  /** For how long the database is away while deliveries go on; 0: that run is left out. */
  readonly outageMinutes: number;
  /** Attempts a second that are written to the log during the faults. */
  readonly attemptsPerSecond: number;
  /** A registry that is there already; else one is started. */
  readonly registryUrl: string | undefined;
  /** Another build than that of this checkout. */
  readonly dist: string | undefined;
  /** Folder for data and logs, which is kept; else a temporary one, which is deleted when all is well. */
  readonly folder: string | undefined;
  readonly verbose: boolean;
  /** A user's environment, for the processes that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @throws Error saying which flag is wrong */
export function readOptions(args: readonly string[]): ProjectionIntegrityOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '5' },
      'outage-minutes': { type: 'string', default: '1' },
      rate: { type: 'string', default: '2000' },
      registry: { type: 'string' },
      dist: { type: 'string' },
      folder: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const outageMinutes = Number(values['outage-minutes']);
  const attemptsPerSecond = Number(values.rate);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number.');
  if (!(minutes >= 0)) throw new Error('--minutes must be a number of minutes.');
  if (!(outageMinutes >= 0)) throw new Error('--outage-minutes must be a number of minutes.');
  if (!(attemptsPerSecond > 0)) throw new Error('--rate must be a number of attempts a second.');
  return {
    ...{ seed, minutes, outageMinutes, attemptsPerSecond },
    registryUrl: values.registry,
    dist: values.dist,
    folder: values.folder,
    verbose: values.verbose,
    env: productEnvironment(),
  };
}
