import { parseArgs } from 'node:util';
import { productEnvironment } from '../../support/waypost-config.js';

export interface DeliveryIntegrityOptions {
  readonly seed: number;
  /** Of faults; traffic flows as long. */
  readonly minutes: number;
  /** Of webhook-delivery, at most. */
  readonly instances: number;
  readonly deliveriesPerSecond: number;
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

const MOST_INSTANCES = 3;

/** @throws Error saying which flag is wrong */
export function readOptions(args: readonly string[]): DeliveryIntegrityOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '5' },
      instances: { type: 'string', default: String(MOST_INSTANCES) },
      rate: { type: 'string', default: '500' },
      registry: { type: 'string' },
      dist: { type: 'string' },
      folder: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const instances = Number(values.instances);
  const deliveriesPerSecond = Number(values.rate);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number.');
  if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  if (![1, 2, MOST_INSTANCES].includes(instances)) throw new Error('--instances must be 1, 2 or 3.');
  if (!(deliveriesPerSecond > 0)) throw new Error('--rate must be a number of deliveries a second.');
  return {
    ...{ seed, minutes, instances, deliveriesPerSecond },
    registryUrl: values.registry,
    dist: values.dist,
    folder: values.folder,
    verbose: values.verbose,
    env: productEnvironment(),
  };
}
