import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guardian } from '../../../../tools/dev-stack/index.js';
import { propertiesText } from '../../../../tools/dev-stack/kafka/broker-properties.js';
import { runOnce } from '../../../../tools/dev-stack/processes/managed-process.js';
import { type GuardedChild, spawnGuarded } from '../../../../tools/dev-stack/processes/spawn-guarded.js';
import { projectFile } from '../../../../tools/dev-stack/project-root.js';
import { type NodePlan, nodeProperties } from './node-properties.js';

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
      const command = { file: java, args: [...javaArguments, 'kafka.Kafka', propertiesFile], env };
      current ??= spawnGuarded(command, { guardian, logFile, orphanSignal: 'SIGKILL' });
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
