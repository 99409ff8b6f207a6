import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setUpKafka } from '@waypost/contracts';
import { type KafkaSettings, openTopicAdmin } from '@waypost/streams';
import { startWorker, type Worker } from '../../../bench/shared/processes/worker.js';
import type { DataDir, Guardian } from '../../../tools/dev-stack/index.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import { createAppInstance, type AppInstance } from '../shared/app-instance.js';
import { type KafkaCluster, startKafkaCluster } from '../shared/kafka-cluster.js';
import type { Interruption } from './judge/observations.js';
import type { ReceiverRequest } from './recording-receiver.js';
import { makeSubscribers, publishSubscribers, type Subscriber } from './subscribers.js';
import { senderAddress, watchedInstance } from './watched-instance.js';

type Environment = Readonly<Record<string, string | undefined>>;

export const PARTITIONS = 4;
/** A line for each POST, as the receiver writes them. */
export const RECEIPTS_FILE = 'receipts.jsonl';

export interface DeliveryStageOptions {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly instances: number;
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  /** The built main file of webhook-delivery. */
  readonly program: string;
  /** Of a user's shell, for the processes that are started. */
  readonly env: Environment;
  readonly now: () => number;
}

/** A broker with topics and subscriptions, the receiver, and the instances of webhook-delivery that may run. */
export interface DeliveryStage {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly cluster: KafkaCluster;
  readonly instances: readonly AppInstance[];
  readonly subscribers: readonly Subscriber[];
  readonly receiver: Worker;
  /** A file of the run's folder. */
  file(name: string): string;
  /** What has happened to processes so far. */
  readonly interruptions: readonly Interruption[];
  /** Ends of processes that nobody has asked for. */
  readonly unexpectedExits: readonly string[];
  stop(): Promise<void>;
}

const SOURCE_ADDRESS = 'test/faults/delivery/source-address.mjs';
const LOADER = 'test/support/typescript-loader.mjs';

export async function openDeliveryStage(options: DeliveryStageOptions): Promise<DeliveryStage> {
  const { dataDir, guardian, env, now } = options;
  const cluster = await startKafkaCluster({ dataDir, guardian, brokers: 1, instances: 0, env });
  const kafka = { brokers: cluster.brokers, clientId: 'delivery-integrity' };
  const registryUrl = await options.registryUrl(cluster.brokers);
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: 1 });
  await admin.close();

  const sealingKey = randomBytes(32);
  const ports = { port: await dataDir.port('receiver'), closedPort: await dataDir.port('refusing') };
  const subscribers = makeSubscribers({ ...ports, sealingKey });
  await publishSubscribers({ kafka, registryUrl }, subscribers);
  const receiver = startWorker({
    name: 'receiver',
    program: projectFile('test/faults/delivery/receiver-process.js'),
    guardian,
    logsDir: dataDir.logsDir,
    env: { ...defined(env), NODE_OPTIONS: preload(LOADER) },
  });
  const endpoints = subscribers.map(({ path, behaviour, secret }) => ({ path, behaviour, secret }));
  await receiver.ask({
    type: 'open',
    port: ports.port,
    file: dataDir.file(RECEIPTS_FILE),
    endpoints,
  } satisfies ReceiverRequest);

  const interruptions: Interruption[] = [];
  const unexpectedExits: string[] = [];
  const keys = { sealingKey: sealingKey.toString('base64'), pageTokenKey: '' };
  const shared = stackEnvironment(env, { kafka, registryUrl, databaseUrl: '' }, keys);
  const instances: AppInstance[] = [];
  for (let instance = 0; instance < options.instances; instance += 1) {
    instances.push(await createInstance({ ...options, shared, interruptions, unexpectedExits, instance, now }));
  }
  return {
    ...{ kafka, registryUrl, cluster, instances, subscribers, receiver, interruptions, unexpectedExits },
    file: (name) => dataDir.file(name),
    async stop() {
      await Promise.all(instances.map((one) => one.kill()));
      receiver.stop();
      await cluster.stop();
    },
  };
}

interface InstanceOptions extends Pick<DeliveryStageOptions, 'dataDir' | 'guardian' | 'program' | 'now'> {
  readonly instance: number;
  readonly shared: Environment;
  readonly interruptions: Interruption[];
  readonly unexpectedExits: string[];
}

async function createInstance(options: InstanceOptions): Promise<AppInstance> {
  const { instance, shared, dataDir, guardian, program, interruptions, unexpectedExits, now } = options;
  const name = `webhook-delivery-${String(instance)}`;
  let source = '';
  let starts = 0;
  const bare = createAppInstance({
    ...{ instance, program, guardian },
    adminPorts: [await dataDir.port(`admin-${String(instance)}-a`), await dataDir.port(`admin-${String(instance)}-b`)],
    logFile: join(dataDir.logsDir, `${name}.log`),
    onUnexpectedExit: (what) => void unexpectedExits.push(what),
    env: () => {
      source = senderAddress(instance, starts);
      starts += 1;
      const own = instanceEnvironment(shared, name, { adminPort: 0 });
      return { ...own, WAYPOST_TEST_SOURCE_ADDRESS: source, NODE_OPTIONS: preload(SOURCE_ADDRESS) };
    },
  });
  return watchedInstance(bare, { sourceNow: () => source, now, onInterrupted: (one) => void interruptions.push(one) });
}

function preload(file: string): string {
  return `--import=${pathToFileURL(projectFile(file)).href}`;
}

function defined(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
