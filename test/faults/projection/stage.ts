import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setUpKafka } from '@waypost/contracts';
import { type KafkaSettings, openTopicAdmin } from '@waypost/streams';
import type { DataDir, Guardian } from '../../../tools/dev-stack/index.js';
import { instanceEnvironment, stackEnvironment } from '../../../tools/dev-stack/start/app-environment.js';
import { createAppInstance, type AppInstance } from '../shared/app-instance.js';
import { startKafkaCluster } from '../shared/kafka-cluster.js';
import { type Link, openLink } from '../shared/link.js';
import { type Database, openDatabase } from './database.js';

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

export interface ProjectorsOptions {
  readonly count: number;
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly database: Database;
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
  /** The built main file of history-projector. */
  readonly program: string;
  /** Of a user's shell. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process of history-projector, and its way to the database. */
export interface Projector {
  readonly instance: AppInstance;
  readonly link: Link;
  /** Ends that nobody has asked for, but for starts that failed: those are the supervisor's to repeat. */
  unexpectedExits(): Promise<readonly string[]>;
}

const START_FAILED = /"event":"app_start_failed"/g;
/** Of a start that failed; an error that nobody caught has it too. */
const FAILED = /exit code 1$/;

export async function createProjectors(options: ProjectorsOptions): Promise<Projector[]> {
  const projectors: Projector[] = [];
  for (let number = 0; number < options.count; number += 1) projectors.push(await createProjector(options, number));
  return projectors;
}

async function createProjector(options: ProjectorsOptions, number: number): Promise<Projector> {
  const { kafka, registryUrl, database, dataDir, guardian, program, env } = options;
  const name = `history-projector-${String(number)}`;
  const port = await dataDir.port(`database-of-${name}`);
  const link = await openLink(port, database.port);
  const databaseUrl = Object.assign(new URL(database.url), { port: String(port) }).href;
  const shared = stackEnvironment(env, { kafka, registryUrl, databaseUrl }, { sealingKey: '', pageTokenKey: '' });
  const logFile = join(dataDir.logsDir, `${name}.log`);
  const exits: string[] = [];
  const instance = createAppInstance({
    ...{ instance: number, program, guardian, logFile },
    onUnexpectedExit: (what) => void exits.push(`${name}: ${what}`),
    adminPorts: [await dataDir.port(`admin-of-${name}-a`), await dataDir.port(`admin-of-${name}-b`)],
    env: () => instanceEnvironment(shared, name, { adminPort: 0 }),
  });
  return {
    instance,
    link,
    async unexpectedExits() {
      const failedStarts = (await readFile(logFile, 'utf8').catch(() => '')).match(START_FAILED)?.length ?? 0;
      const failures = exits.filter((exit) => FAILED.test(exit));
      return [...exits.filter((exit) => !FAILED.test(exit)), ...failures.slice(failedStarts)];
    },
  };
}
