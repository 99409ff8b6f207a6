import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaSettings } from '@waypost/streams';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import {
  instanceEnvironment,
  stackEnvironment,
  type StackKeys,
  stackKeys,
} from '../../../tools/dev-stack/start/app-environment.js';
import { createStackFile } from '../../../tools/dev-stack/start/stack-file.js';
import type { AppName } from '../../../tools/dev-stack/start/start-flags.js';
import { type Prometheus, startPrometheus } from '../../support/prometheus.js';
import { type RunningWaypost, runningWaypost } from '../../support/running-waypost.js';
import { type Database, openDatabase } from '../projection/database.js';
import { type AppInstance, createAppInstance, startReady } from '../shared/app-instance.js';
import type { Place, SuiteContext } from '../shared/fault-suite.js';
import type { NodeProcess } from '../shared/kafka-node.js';
import { type Link, openLink } from '../shared/link.js';
import { type KafkaStage, openKafkaStage } from '../shared/stage.js';
import { shortenedRules } from './shortened-rules.js';

/** By their numbers on the cluster. Two of one application, so that one can go without the application being away. */
const APPS: readonly AppName[] = [
  'telemetry-processor',
  'telemetry-processor',
  'webhook-delivery',
  'history-projector',
  'public-api',
];

export interface App {
  readonly name: AppName;
  readonly instance: AppInstance;
  readonly adminUrl: string;
  readonly toBroker: Link;
  readonly toDatabase: Link;
}

/** Everything that can be broken, and the Prometheus that watches it. */
export interface AlertStage {
  readonly waypost: RunningWaypost;
  readonly adminKey: string;
  /** Undisturbed. */
  readonly kafka: KafkaSettings;
  readonly registryUrl: string;
  readonly broker: NodeProcess;
  readonly database: Database;
  readonly apps: readonly App[];
  readonly prometheus: Prometheus;
  stop(): Promise<void>;
}

export interface AlertStageOptions {
  readonly program: SuiteContext['program'];
  readonly prometheus: string;
  /** Durations of the rules are divided by it. */
  readonly factor: number;
}

export async function openAlertStage(place: Place, options: AlertStageOptions): Promise<AlertStage> {
  const { dataDir } = place;
  const kafkaStage = await openKafkaStage(place, { brokers: 1, instances: APPS.length });
  const { kafka, registryUrl, cluster } = kafkaStage;
  const database = await openDatabase(place);
  const keys = await stackKeys(dataDir);
  const apiPort = await dataDir.port('api');
  const apps = await createApps(place, { ...kafkaStage, database, keys, apiPort, options });
  await startReady(apps.map(({ instance }) => instance));
  const adminUrls = apps.map(({ adminUrl }) => adminUrl);
  const stackFile = createStackFile(dataDir, () => undefined);
  await stackFile.publish(() => ({
    ...{ brokers: kafka.brokers, registryUrl, databaseUrl: database.url },
    ...{ apiUrl: `http://127.0.0.1:${String(apiPort)}`, adminUrls, pids: {} },
  }));
  const rules = dataDir.file('rules.yml');
  const shipped = await readFile(projectFile('deploy/prometheus/rules.yml'), 'utf8');
  await writeFile(rules, shortenedRules(shipped, options.factor));
  const targets = adminUrls.map((url) => new URL(url).host);
  const prometheus = await startPrometheus({ program: options.prometheus, targets, rules });
  return {
    ...{ kafka, registryUrl, database, apps, prometheus, adminKey: keys.adminKey },
    waypost: runningWaypost(dataDir.path),
    broker: cluster.node(1),
    async stop() {
      await prometheus.stop();
      await stackFile.remove();
      await Promise.all(apps.map(({ instance }) => instance.kill()));
      await Promise.all(apps.map(({ toDatabase }) => toDatabase.close()));
      await database.close();
      await cluster.stop();
    },
  };
}

interface Shared extends Pick<KafkaStage, 'cluster' | 'registryUrl'> {
  readonly database: Database;
  readonly keys: StackKeys;
  readonly apiPort: number;
  readonly options: AlertStageOptions;
}

/** Each with ways of its own to the broker and to the database. */
async function createApps(place: Place, shared: Shared): Promise<App[]> {
  const { dataDir } = place;
  const ports: (readonly [number, number])[] = [];
  for (const [number] of APPS.entries())
    ports.push([await dataDir.port(`admin-${String(number)}-a`), await dataDir.port(`admin-${String(number)}-b`)]);
  const adminUrls = ports.map(([port]) => `http://127.0.0.1:${String(port)}`);
  const apps: App[] = [];
  for (const [number, name] of APPS.entries()) {
    const databasePort = await dataDir.port(`database-of-${String(number)}`);
    const id = `${name}-${String(number)}`;
    const addresses = {
      kafka: { brokers: shared.cluster.addressesOf(number), clientId: 'waypost' },
      registryUrl: shared.registryUrl,
      databaseUrl: Object.assign(new URL(shared.database.url), { port: String(databasePort) }).href,
    };
    const env = stackEnvironment(place.env, addresses, shared.keys);
    const api = name === 'public-api' ? { adminUrls, port: shared.apiPort } : {};
    const instance = createAppInstance({
      instance: number,
      program: shared.options.program(name),
      env: () => instanceEnvironment(env, id, { adminPort: 0, ...api }),
      adminPorts: ports[number] ?? [0, 0],
      guardian: place.guardian,
      logFile: join(dataDir.logsDir, `${id}.log`),
      // Provocations end processes in many ways.
      onUnexpectedExit: () => undefined,
    });
    const toDatabase = await openLink(databasePort, shared.database.port);
    apps.push({
      name,
      instance,
      adminUrl: adminUrls[number] ?? '',
      toBroker: shared.cluster.link(number, 1),
      toDatabase,
    });
  }
  return apps;
}
