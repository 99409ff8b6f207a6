import { join } from 'node:path';
import { setUpKafka } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import type { DataDir, Guardian } from '../../../tools/dev-stack/index.js';
import { openTopicAdmin } from '@waypost/streams';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import { startKafkaCluster, type KafkaCluster } from '../shared/kafka-cluster.js';
import { createAppInstance, type AppInstance, startReady } from '../shared/app-instance.js';

export const PARTITIONS = 4;
export const INSTANCES = 4;
/** The last one joins without a name of its own: membership is static for the others only. */
export const NAMED_INSTANCES = 3;

export interface StageOptions {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly brokers: 1 | 3;
  /** Asked once there is a cluster. */
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  /** The built main file of the telemetry-processor. */
  readonly program: string;
  /** Of a user's shell, for the processes that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A cluster with its topics, and the processors that may run on it. */
export interface Stage {
  /** Undisturbed. */
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly brokers: 1 | 3;
  readonly cluster: KafkaCluster;
  readonly processors: readonly AppInstance[];
  /** Ends of processes that nobody has asked for. */
  readonly unexpectedExits: readonly string[];
  /** Starts instances at once and resolves when all of them are ready. */
  start(instances: readonly number[]): Promise<void>;
  stop(): Promise<void>;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const { dataDir, guardian, brokers, env } = options;
  const cluster = await startKafkaCluster({ dataDir, guardian, brokers, instances: INSTANCES, env });
  const kafka = { brokers: cluster.brokers, clientId: 'integrity' };
  const registryUrl = await options.registryUrl(cluster.brokers);
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: brokers });
  await admin.close();

  const unexpectedExits: string[] = [];
  const processors: AppInstance[] = [];
  for (let instance = 0; instance < INSTANCES; instance += 1) {
    const adminPorts = [
      await dataDir.port(`admin-${String(instance)}-a`),
      await dataDir.port(`admin-${String(instance)}-b`),
    ];
    processors.push(
      createAppInstance({
        instance,
        program: options.program,
        env: () => processorEnvironment(env, { registryUrl, brokers: cluster.addressesOf(instance) }, instance),
        adminPorts: adminPorts as [number, number],
        guardian,
        logFile: join(dataDir.logsDir, `processor-${String(instance)}.log`),
        onUnexpectedExit: (what) => void unexpectedExits.push(what),
      }),
    );
  }
  return {
    kafka,
    registryUrl,
    brokers,
    cluster,
    processors,
    unexpectedExits,
    start: (instances) => startReady(instances.flatMap((instance) => processors[instance] ?? [])),
    async stop() {
      await Promise.all(processors.map((processor) => processor.kill()));
      await cluster.stop();
    },
  };
}

function processorEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { registryUrl, brokers }: { readonly registryUrl: string; readonly brokers: readonly string[] },
  instance: number,
): Readonly<Record<string, string | undefined>> {
  const kafka = { brokers, clientId: 'waypost' };
  // The processor has no use for a database or for keys.
  const shared = stackEnvironment(env, { kafka, registryUrl, databaseUrl: '' }, { sealingKey: '', pageTokenKey: '' });
  const own = instanceEnvironment(shared, `telemetry-processor-${String(instance)}`, { adminPort: 0 });
  return instance < NAMED_INSTANCES ? own : { ...own, WAYPOST_INSTANCE_ID: '' };
}
