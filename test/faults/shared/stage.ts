import { join } from 'node:path';
import { setUpKafka } from '@waypost/contracts';
import { type KafkaSettings, openTopicAdmin } from '@waypost/streams';
import { type AppInstance, createAppInstance } from './app-instance.js';
import type { Place } from './fault-suite.js';
import { type KafkaCluster, startKafkaCluster } from './kafka-cluster.js';

/** Of every topic. */
export const PARTITIONS = 4;

/** What a judge reads. */
export interface Log {
  /** Undisturbed. */
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
}

export interface KafkaStage extends Log {
  readonly cluster: KafkaCluster;
}

/** A cluster with its topics. `instances` of an application get links of their own to each broker. */
export async function openKafkaStage(
  place: Place,
  { brokers, instances }: { readonly brokers: 1 | 3; readonly instances: number },
): Promise<KafkaStage> {
  const { dataDir, guardian, env } = place;
  const cluster = await startKafkaCluster({ dataDir, guardian, brokers, instances, env });
  const kafka = { brokers: cluster.brokers, clientId: 'integrity' };
  const registryUrl = await place.registryUrl(cluster.brokers);
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: brokers });
  await admin.close();
  return { kafka, registryUrl, cluster };
}

export interface InstancePlan {
  readonly name: string;
  readonly instance: number;
  /** The built main file of the application. */
  readonly program: string;
  /** Asked at every start of a process. */
  readonly env: () => Readonly<Record<string, string | undefined>>;
  readonly onUnexpectedExit: (what: string) => void;
}

/** An instance of an application with a log file and ports of its own; it is not started. */
export async function createInstance({ dataDir, guardian }: Place, plan: InstancePlan): Promise<AppInstance> {
  const { name, ...options } = plan;
  return createAppInstance({
    ...options,
    guardian,
    logFile: join(dataDir.logsDir, `${name}.log`),
    adminPorts: [await dataDir.port(`admin-of-${name}-a`), await dataDir.port(`admin-of-${name}-b`)],
  });
}
