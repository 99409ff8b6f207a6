import { parseArgs } from 'node:util';
import { productEnvironment } from '../support/waypost-config.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ContractOptions {
  readonly seed: number;
  /** Generated requests of each operation, in each of two phases. */
  readonly examples: number;
  /** Folder for data and logs, which is kept; else a temporary one, which is deleted when all is well. */
  readonly folder: string | undefined;
  /** Another build than the one of this checkout. */
  readonly dist: string | undefined;
  /** A user's environment, for the product. */
  readonly env: Environment;
  /** The whole environment, for Python: proxies and package indexes are set there. */
  readonly pythonEnv: Environment;
}

/** @throws Error saying which flag is wrong */
export function readOptions(args: readonly string[]): ContractOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      examples: { type: 'string', default: '50' },
      folder: { type: 'string' },
      dist: { type: 'string' },
    },
  });
  return {
    seed: wholeNumber('--seed', values.seed, 0),
    examples: wholeNumber('--examples', values.examples, 1),
    folder: values.folder,
    dist: values.dist,
    env: productEnvironment(),
    pythonEnv: process.env,
  };
}

function wholeNumber(flag: string, text: string, least: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < least) throw new Error(`${flag} must be a whole number from ${String(least)}.`);
  return value;
}
