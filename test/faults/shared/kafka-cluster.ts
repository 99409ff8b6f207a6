import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import type { DataDir } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { ensureDownloaded } from '../../../tools/dev-stack/download-cache.js';
import { defaultCacheDir } from '../../../tools/dev-stack/download-cache.js';
import { kafkaDownload } from '../../../tools/dev-stack/kafka/embedded-kafka.js';
import { probeKafka } from '../../../tools/dev-stack/kafka/probe-kafka.js';
import { javaProgram } from '../../../tools/dev-stack/prerequisites.js';
import type { Guardian } from '../../../tools/dev-stack/processes/guardian.js';
import { waitUntil } from '../../../tools/dev-stack/processes/wait-until.js';
import { silentReporter } from '../../../tools/dev-stack/stack-reporter.js';
import { type LinkPorts, type NodePlan, type NodeProcess, prepareNode } from './kafka-node.js';
import { type Link, openLink } from './link.js';

export interface ClusterOptions {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly brokers: 1 | 3;
  /** Processor instances: each has links of its own. */
  readonly instances: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface KafkaCluster {
  /** Addresses that no fault of the network touches. */
  readonly brokers: readonly string[];
  /** What an instance is given as its brokers. */
  addressesOf(instance: number): readonly string[];
  /** The way of an instance to a broker. */
  link(instance: number, broker: number): Link;
  node(id: number): NodeProcess;
  /** The broker that coordinates a group, or the transactions of the process that has left its name at a position. */
  coordinatorOf(type: 'group' | 'transactions', of: Position): Promise<number>;
  /** Resolves when every partition of every topic has all its replicas in sync. */
  untilWhole(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

const CONTROLLER_ID = 100;
const READY_TIMEOUT_MS = 120_000;

/** One broker that is its own controller, or three beside a controller that no fault touches. */
export async function startKafkaCluster(options: ClusterOptions): Promise<KafkaCluster> {
  const plans = await planNodes(options);
  const nodes = await prepareAll(plans, options);
  const brokerPlans = plans.filter(({ roles }) => roles !== 'controller');
  const links = await Promise.all(
    Array.from({ length: options.instances }, (_, instance) =>
      Promise.all(brokerPlans.map((plan) => openLink(portsOf(plan, instance).proxy, portsOf(plan, instance).broker))),
    ),
  );
  const brokers = brokerPlans.map(({ port }) => `127.0.0.1:${String(port)}`);
  for (const node of nodes) node.start();
  await waitUntil(() => probeKafka({ brokers }), { timeoutMs: READY_TIMEOUT_MS });

  return {
    brokers,
    addressesOf: (instance) => brokerPlans.map((plan) => `127.0.0.1:${String(portsOf(plan, instance).proxy)}`),
    link: (instance, broker) => linkOf(links, instance, broker),
    node: (id) => nodeOf(nodes, id),
    coordinatorOf: async (type, of) => {
      const key = type === 'group' ? of.groupId : await writerAt(brokers, of);
      return findCoordinator(brokers, type, key);
    },
    untilWhole: (timeoutMs) => waitUntil(() => assertWhole(brokers, options.brokers), { timeoutMs, intervalMs: 500 }),
    async stop() {
      await Promise.all(links.flat().map((link) => link.close()));
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}

async function planNodes({ dataDir, brokers, instances }: ClusterOptions): Promise<NodePlan[]> {
  const controllerPort = await dataDir.port('controller');
  const logDirOf = (id: number): string => join(dataDir.path, `node-${String(id)}`, 'log');
  const common = { controllerPort, replicas: brokers };
  const plans: NodePlan[] = [];
  if (brokers > 1)
    plans.push({
      ...common,
      id: CONTROLLER_ID,
      roles: 'controller',
      port: 0,
      links: [],
      logDir: logDirOf(CONTROLLER_ID),
    });
  for (let id = 1; id <= brokers; id += 1) {
    const links: LinkPorts[] = [];
    for (let instance = 0; instance < instances; instance += 1) {
      const name = `${String(id)}-${String(instance)}`;
      links.push({ broker: await dataDir.port(`link-${name}`), proxy: await dataDir.port(`proxy-${name}`) });
    }
    const roles = brokers === 1 ? 'broker,controller' : 'broker';
    plans.push({ ...common, id, roles, port: await dataDir.port(`broker-${String(id)}`), links, logDir: logDirOf(id) });
  }
  return plans;
}

async function prepareAll(plans: readonly NodePlan[], options: ClusterOptions): Promise<NodeProcess[]> {
  const { dataDir, guardian, env } = options;
  const jars = await ensureDownloaded(defaultCacheDir(env), kafkaDownload(), silentReporter);
  return Promise.all(
    plans.map((plan) => {
      const name = `node-${String(plan.id)}`;
      const logFile = join(dataDir.logsDir, `kafka-${name}.log`);
      return prepareNode(plan, {
        guardian,
        java: javaProgram(env['JAVA_HOME']),
        jars,
        folder: dataDir.file(name),
        logFile,
        env,
      });
    }),
  );
}

function portsOf(plan: NodePlan, instance: number): LinkPorts {
  const ports = plan.links[instance];
  if (ports === undefined) throw new Error(`No network was planned for instance ${String(instance)}.`);
  return ports;
}

function nodeOf(nodes: readonly NodeProcess[], id: number): NodeProcess {
  const node = nodes.find((one) => one.id === id);
  if (node === undefined) throw new Error(`There is no Kafka node ${String(id)}.`);
  return node;
}

/** Brokers are numbered from 1. */
function linkOf(links: readonly (readonly Link[])[], instance: number, broker: number): Link {
  const link = links[instance]?.[broker - 1];
  if (link === undefined)
    throw new Error(`There is no link from instance ${String(instance)} to broker ${String(broker)}.`);
  return link;
}

/** A client without cached metadata that fails at once. */
function freshClient(brokers: readonly string[]): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId: 'integrity',
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    requestTimeout: 5_000,
    retry: { retries: 1 },
  });
}

async function assertWhole(brokers: readonly string[], replicas: number): Promise<void> {
  const admin = freshClient(brokers).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata();
    const short = topics.filter(({ partitions }) => partitions.some(({ isr }) => isr.length < replicas));
    if (short.length > 0) throw new Error(`Replicas are missing of ${short.map(({ name }) => name).join(', ')}.`);
  } finally {
    await admin.disconnect();
  }
}

interface Position {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

async function writerAt(brokers: readonly string[], { groupId, topic, partition }: Position): Promise<string> {
  const admin = freshClient(brokers).admin();
  await admin.connect();
  try {
    const answer = await admin.fetchOffsets({ groupId, topics: [topic] });
    const position = answer.flatMap(({ partitions }) => partitions).find((found) => found.partition === partition);
    const [, writer] = /(?:^|,)writer=([^,]+)/.exec(position?.metadata ?? '') ?? [];
    if (writer === undefined) throw new Error(`No process has left its name at ${topic}-${String(partition)}.`);
    return writer;
  } finally {
    await admin.disconnect();
  }
}

interface CoordinatorFinder {
  findGroupCoordinatorMetadata(of: { groupId: string; coordinatorType: 0 | 1 }): Promise<{
    coordinator: { nodeId: number };
  }>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
}

/** kafkajs's admin does not tell coordinators; its cluster does, which every client of it is built on. */
async function findCoordinator(
  brokers: readonly string[],
  type: 'group' | 'transactions',
  key: string,
): Promise<number> {
  const kafka = freshClient(brokers) as unknown as Record<symbol, (options: object) => CoordinatorFinder>;
  const createCluster = Object.getOwnPropertySymbols(kafka).find((name) => name.description?.includes('createCluster'));
  const cluster = createCluster === undefined ? undefined : kafka[createCluster]?.({});
  if (cluster === undefined) throw new Error('kafkajs has changed: coordinators cannot be found this way.');
  await cluster.connect();
  try {
    await cluster.refreshMetadata();
    const coordinatorType = type === 'group' ? 0 : 1;
    const found = await cluster.findGroupCoordinatorMetadata({ groupId: key, coordinatorType });
    return found.coordinator.nodeId;
  } finally {
    await cluster.disconnect();
  }
}
