import { setUpKafka } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import type { DataDir, Guardian } from '../../../../tools/dev-stack/index.js';
import { openTopicAdmin } from '@waypost/streams';
import { startKafkaCluster } from '../../processor/cluster/kafka-cluster.js';
import { openDatabase, type Database } from './database.js';
import { createProjectors, type Projector } from './projectors.js';

export const PARTITIONS = 4;
const PROJECTORS = 2;

export interface ProjectionStageOptions {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  /** The built main file of history-projector. */
  readonly program: string;
  /** Of a user's shell, for the processes that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A broker with topics, a database, and the projectors that may run on them. */
export interface ProjectionStage {
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly database: Database;
  readonly projectors: readonly Projector[];
  stop(): Promise<void>;
}

export async function openProjectionStage(options: ProjectionStageOptions): Promise<ProjectionStage> {
  const { dataDir, guardian, env, program } = options;
  const cluster = await startKafkaCluster({ dataDir, guardian, brokers: 1, instances: 0, env });
  const kafka = { brokers: cluster.brokers, clientId: 'projection-integrity' };
  const registryUrl = await options.registryUrl(cluster.brokers);
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: 1 });
  await admin.close();
  const database = await openDatabase({ folder: dataDir.path, guardian, env });
  const parts = { kafka, registryUrl, database, dataDir, guardian, program, env };
  const projectors = await createProjectors({ ...parts, count: PROJECTORS });
  return {
    ...{ kafka, registryUrl, database, projectors },
    async stop() {
      await Promise.all(projectors.map(({ instance }) => instance.kill()));
      await Promise.all(projectors.map(({ link }) => link.close()));
      await database.close();
      await cluster.stop();
    },
  };
}
