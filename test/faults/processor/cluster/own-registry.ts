import { join } from 'node:path';
import { openDataDir, startDevStack, type DevStack, type StackReporter } from '../../../../tools/dev-stack/index.js';

export interface OwnRegistryOptions {
  /** Of a registry that is there already. */
  readonly given: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly reporter: StackReporter;
}

export interface OwnRegistry {
  /** Starts it at the first call. */
  url(brokers: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** One registry for all runs, started with the first: schemas are not what is broken here. */
export function createOwnRegistry({ given, env, folder, reporter }: OwnRegistryOptions): OwnRegistry {
  let stack: Promise<DevStack> | undefined;
  const start = async (brokers: readonly string[]): Promise<DevStack> =>
    startDevStack({
      dataDir: await openDataDir(join(folder, 'registry')),
      env,
      external: { kafka: { brokers, clientId: 'integrity' } },
      durable: false,
      reporter,
    });
  return {
    url: async (brokers) => given ?? (await (stack ??= start(brokers))).registryUrl,
    stop: async () => {
      await (await stack?.catch(() => undefined))?.stop();
    },
  };
}
