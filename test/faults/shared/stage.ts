import { join } from 'node:path';
import { setUpKafka } from '@waypost/contracts';
import { type KafkaSettings, openTopicAdmin } from '@waypost/streams';
import { connectKafka } from '@waypost/streams/admin';
import { type AppInstance, createAppInstance } from './app-instance.js';
import type { Place } from './fault-suite.js';
import { type ClusterOptions, type KafkaCluster, startKafkaCluster } from './kafka-cluster.js';
import { type Link, openLink } from './link.js';

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
  /** The way of all applications to the registry, which they know by this address. */
  readonly registry: { readonly url: string; readonly link: Link };
}

export interface KafkaStageOptions {
  readonly brokers: 1 | 3;
  /** Of an application: they get links of their own to each broker. */
  readonly instances: number;
  /** The set-up of an earlier version, which makes the topics that this one finds. */
  readonly earlierSetUp?: ((log: Log, place: Place) => Promise<void>) | undefined;
}

/** A cluster with its topics. */
export async function openKafkaStage(
  place: Place,
  { brokers, instances, earlierSetUp }: KafkaStageOptions,
): Promise<KafkaStage> {
  const { dataDir, guardian, env } = place;
  const cluster = await (place.cluster?.() ?? startKafkaCluster({ dataDir, guardian, brokers, instances, env }));
  const kafka = { brokers: cluster.brokers, clientId: 'integrity' };
  const registryUrl = await place.registryUrl(cluster.brokers);
  await earlierSetUp?.({ kafka, registryUrl }, place);
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: brokers });
  await admin.close();
  const port = await place.dataDir.port('link-to-registry');
  const link = await openLink(port, Number(new URL(registryUrl).port));
  const url = new URL(registryUrl);
  url.port = String(port);
  const stop = async (): Promise<void> => {
    await link.close();
    await cluster.stop();
  };
  return { kafka, registryUrl, cluster: { ...cluster, stop }, registry: { url: url.href, link } };
}

/** One cluster for several runs, one after the other: each of them finds it empty. It outlives them. */
export async function sharedCluster(options: ClusterOptions): Promise<{
  readonly open: () => Promise<KafkaCluster>;
  readonly stop: () => Promise<void>;
}> {
  const cluster = await startKafkaCluster(options);
  return {
    stop: () => cluster.stop(),
    async open() {
      const admin = connectKafka({ brokers: cluster.brokers, clientId: 'integrity' }).admin();
      await admin.connect();
      try {
        const { groups } = await admin.listGroups();
        await admin.deleteGroups(groups.map(({ groupId }) => groupId)).catch(() => undefined);
        const topics = (await admin.listTopics()).filter((name) => !name.startsWith('__'));
        if (topics.length > 0) await admin.deleteTopics({ topics });
      } finally {
        await admin.disconnect();
      }
      return { ...cluster, stop: () => Promise.resolve() };
    },
  };
}

export interface InstancePlan {
  readonly name: string;
  readonly instance: number;
  /** The built main file of the application; a function is asked at every start of a process. */
  readonly program: string | ((instance: number) => string);
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
