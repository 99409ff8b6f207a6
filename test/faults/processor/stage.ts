import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import { type AppInstance, startReady } from '../shared/app-instance.js';
import type { Place } from '../shared/fault-suite.js';
import { createInstance, type KafkaStage, openKafkaStage } from '../shared/stage.js';

const CLOCK_STEP = 'test/faults/shared/clock-step.mjs';

export const INSTANCES = 4;
/** The last one joins without a name of its own: membership is static for the others only. */
export const NAMED_INSTANCES = 3;

export interface StageOptions {
  readonly brokers: 1 | 3;
  /** The built main file of telemetry-processor. */
  readonly program: string;
}

/** A cluster with its topics, and the processors that may run on it. */
export interface Stage extends KafkaStage {
  readonly brokers: 1 | 3;
  readonly processors: readonly AppInstance[];
  /** Of each processor, by instance. */
  readonly logFiles: readonly string[];
  /** Ends of processes that nothing has asked for. */
  readonly unexpectedExits: readonly string[];
  /** Starts instances at once and resolves when all of them are ready. */
  start(instances: readonly number[]): Promise<void>;
  stop(): Promise<void>;
}

export async function openStage(place: Place, { brokers, program }: StageOptions): Promise<Stage> {
  const stage = await openKafkaStage(place, { brokers, instances: INSTANCES });
  const { cluster, registry } = stage;
  const unexpectedExits: string[] = [];
  const processors: AppInstance[] = [];
  for (let instance = 0; instance < INSTANCES; instance += 1) {
    const kafka = { brokers: cluster.addressesOf(instance), clientId: 'waypost' };
    const onUnexpectedExit = (what: string): void => void unexpectedExits.push(what);
    const env = () => processorEnvironment(place.env, { kafka, registryUrl: registry.url, databaseUrl: '' }, instance);
    const name = nameOf(instance);
    processors.push(await createInstance(place, { name, instance, program, env, onUnexpectedExit }));
  }
  return {
    ...stage,
    brokers,
    processors,
    logFiles: processors.map((_processor, instance) => join(place.dataDir.logsDir, `${nameOf(instance)}.log`)),
    unexpectedExits,
    start: (instances) => startReady(instances.flatMap((instance) => processors[instance] ?? [])),
    async stop() {
      await Promise.all(processors.map((processor) => processor.kill()));
      await cluster.stop();
    },
  };
}

function nameOf(instance: number): string {
  return `processor-${String(instance)}`;
}

function processorEnvironment(
  env: Place['env'],
  addresses: Parameters<typeof stackEnvironment>[1],
  instance: number,
): Place['env'] {
  // The processor has no use for a database or for keys.
  const shared = stackEnvironment(env, addresses, { sealingKey: '', pageTokenKey: '', adminKey: '' });
  const own = instanceEnvironment(shared, `telemetry-processor-${String(instance)}`, { adminPort: 0 });
  const options = { NODE_OPTIONS: `--import=${pathToFileURL(projectFile(CLOCK_STEP)).href}` };
  return { ...own, ...options, ...(instance < NAMED_INSTANCES ? {} : { WAYPOST_INSTANCE_ID: '' }) };
}
