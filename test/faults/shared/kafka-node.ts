import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guardian } from '../../../tools/dev-stack/index.js';
import { brokerProperties, propertiesText } from '../../../tools/dev-stack/kafka/broker-properties.js';
import { runOnce } from '../../../tools/dev-stack/processes/managed-process.js';
import { type GuardedChild, spawnGuarded } from '../../../tools/dev-stack/processes/spawn-guarded.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { limitDisk } from './disk-full.js';

export interface NodeContext {
  readonly guardian: Guardian;
  readonly java: string;
  readonly jars: string;
  readonly folder: string;
  readonly logFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A Kafka node that stays down when it was brought down. */
export interface NodeProcess {
  readonly id: number;
  start(): void;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Its disk is full until it ends because of that. @returns whether it has ended within the time */
  fillDisk(withinMs: number): Promise<boolean>;
}

const CLUSTER_ID = 'V2F5cG9zdEludGVncml0eQ';
const LOGGING = 'tools/dev-stack/kafka/log4j2.properties';
const JVM_FLAGS = [
  '-Xms96m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-XX:-UsePerfData',
];
const STOP_GRACE_MS = 6_000;
const AGAIN_AFTER_MS = 1_000;

/** Writes the settings and formats the storage; nothing runs afterwards. */
export async function prepareNode(plan: NodePlan, context: NodeContext): Promise<NodeProcess> {
  const { guardian, java, jars, folder, logFile, env } = context;
  const propertiesFile = join(folder, 'server.properties');
  const logging = join(folder, 'log4j2.properties');
  const javaArguments = [...JVM_FLAGS, `-Dlog4j2.configurationFile=${logging}`, '-cp', join(jars, '*')];
  await mkdir(folder, { recursive: true });
  await copyFile(projectFile(LOGGING), logging);
  await writeFile(propertiesFile, propertiesText(nodeProperties(plan)));
  if (!existsSync(plan.logDir)) {
    const standalone = plan.roles === 'broker' ? [] : ['--standalone'];
    const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', propertiesFile, ...standalone];
    const name = `Formatting the storage of Kafka node ${String(plan.id)}`;
    await runOnce({ file: java, args: [...javaArguments, ...format], env }, { name, logFile, guardian });
  }

  let current: GuardedChild | undefined;
  function run(): void {
    const command = { file: java, args: [...javaArguments, 'kafka.Kafka', propertiesFile], env };
    const started = spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
    current = started;
    // Other tests may have taken one of its ports while it was down, for a while.
    void started.exited.then(() => sleep(AGAIN_AFTER_MS)).then(() => current === started && run());
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (current === undefined) return;
    const { child, exited } = current;
    current = undefined;
    child.kill(signal);
    await Promise.race([exited, sleep(STOP_GRACE_MS)]);
    child.kill('SIGKILL');
    await exited;
  }
  return {
    id: plan.id,
    start() {
      if (current === undefined) run();
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async fillDisk(withinMs) {
      const pid = current?.child.pid;
      if (current === undefined || pid === undefined) return false;
      await limitDisk(pid, 'full');
      const hasEnded = await Promise.race([current.exited.then(() => true), sleep(withinMs, false)]);
      await end('SIGKILL');
      return hasEnded;
    },
  };
}

/** The way of one processor instance to one broker. */
export interface LinkPorts {
  /** Where the broker listens. */
  readonly broker: number;
  /** Where the proxy listens: what the broker advertises to its clients. */
  readonly proxy: number;
}

export interface NodePlan {
  readonly id: number;
  readonly roles: 'broker,controller' | 'broker' | 'controller';
  readonly controllerPort: number;
  /** For other brokers, the publisher and the judge; it is never disturbed. */
  readonly port: number;
  /** By instance: each comes in on a listener of its own, so each has a network of its own. */
  readonly links: readonly LinkPorts[];
  readonly replicas: number;
  readonly logDir: string;
}

function at(port: number): string {
  return `127.0.0.1:${String(port)}`;
}

function nodeProperties(plan: NodePlan): Record<string, string> {
  const { id, roles, controllerPort, port, links, replicas, logDir } = plan;
  const isBroker = roles !== 'controller';
  const linkListeners = links.map((link, index) => ({ name: `LINK${String(index)}`, ...link }));
  const names = ['CONTROLLER', ...(isBroker ? ['PLAINTEXT', ...linkListeners.map(({ name }) => name)] : [])];
  const brokerListeners = isBroker
    ? [`PLAINTEXT://${at(port)}`, ...linkListeners.map((link) => `${link.name}://${at(link.broker)}`)]
    : [];
  const controllerListeners = roles === 'broker' ? [] : [`CONTROLLER://${at(controllerPort)}`];
  const advertised = [
    `PLAINTEXT://${at(port)}`,
    ...linkListeners.map((link) => `${link.name}://${at(link.proxy)}`),
  ].join(',');
  const properties = {
    ...brokerProperties({ broker: port, controller: controllerPort }, logDir),
    'process.roles': roles,
    'node.id': String(id),
    listeners: [...brokerListeners, ...controllerListeners].join(','),
    'advertised.listeners': advertised,
    'listener.security.protocol.map': names.map((name) => `${name}:PLAINTEXT`).join(','),
    'num.network.threads': '1',
    ...replication(replicas),
  };
  return isBroker ? properties : withoutBrokerSettings(properties);
}

function replication(replicas: number): Record<string, string> {
  if (replicas === 1) return {};
  return {
    'default.replication.factor': String(replicas),
    'offsets.topic.replication.factor': String(replicas),
    'transaction.state.log.replication.factor': String(replicas),
    'min.insync.replicas': '2',
    'transaction.state.log.min.isr': '2',
    'replica.lag.time.max.ms': '5000',
  };
}

function withoutBrokerSettings(properties: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([key]) => key !== 'advertised.listeners' && key !== 'inter.broker.listener.name',
    ),
  );
}
