import { allTopics, type KafkaUser } from '@waypost/contracts';
import { kafkaRefused, probeKafkaAccess } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { messageOf } from '../terminal/message-of.js';
import { checkCluster, INTERNAL_TOPICS } from './broker-checks.js';
import {
  type KafkaClusterReader,
  type KafkaClusterState,
  type KafkaPartition,
  openClusterReader,
} from './cluster-reader.js';
import { examinePermissions } from './examine-permissions.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { isSetUp, type KafkaScope, type KafkaWishes, scopeOf } from './kafka-scope.js';
import { checkTopics, checkWritable, type FoundTopic } from './topic-checks.js';

const ABOUT = 'kafka';

/**
 * Reads what the cluster says of itself. Creates nothing.
 * @param user whose login it is; absent: that of all applications
 */
export async function examineKafka(settings: KafkaSettings, wishes: KafkaWishes, user?: KafkaUser): Promise<Finding[]> {
  const access = await probeKafkaAccess(settings);
  if (access.type === 'refused') return [problem(ABOUT, access.reason, kafkaRefused(access).message)];
  if (access.type === 'away')
    return [problem(ABOUT, `no broker responds: ${access.reason}`, 'Check KAFKA_BROKERS, and that the port is open.')];
  const cluster = openClusterReader(settings);
  const accepted = [ok(ABOUT, 'the brokers accept this client'), ...checkPassword(settings)];
  try {
    // Each on its own: neither must hide what the other finds.
    const found = await orUnanswered(examineCluster(cluster, scopeOf(wishes, user)));
    const rights = await orUnanswered(examinePermissions(settings, user), 'permissions: ');
    return [...accepted, ...found, ...rights];
  } finally {
    await cluster.close();
  }
}

function orUnanswered(findings: Promise<Finding[]>, where = ''): Promise<Finding[]> {
  return findings.catch((error: unknown) => [unanswered(error, where)]);
}

function unanswered(error: unknown, where: string): Finding {
  const reason = messageOf(error);
  const fix = /authoriz(ed|ation)/i.test(reason)
    ? 'Grant this user Describe and DescribeConfigs on the cluster and on our topics.'
    : 'Check the brokers, and the network to them.';
  return problem(ABOUT, where + reason, fix);
}

export function checkPassword({ sasl, ssl }: KafkaSettings): Finding[] {
  if (sasl?.mechanism !== 'plain' || (ssl !== undefined && ssl !== false)) return [];
  const fix = 'Set KAFKA_TLS=true, or use scram-sha-512: anyone on the network can read it.';
  return [warning(ABOUT, 'KAFKA_SASL_MECHANISM=plain without TLS sends the password in clear text', fix)];
}

export async function examineCluster(cluster: KafkaClusterReader, scope: KafkaScope): Promise<Finding[]> {
  const state = await cluster.state();
  const { settings, silent } = await readBrokers(cluster, state);
  const [via] = [...settings].flatMap(([id, found]) => (found === SILENT ? [] : [id]));
  const topics = [...state.topics.keys()].filter(
    (name) => INTERNAL_TOPICS.includes(name) || scope.topics.some((topic) => topic.name === name),
  );
  // A broker that is silent has a finding of its own; if all are, there is no one to ask.
  const read = via === undefined ? NOTHING_READ : await readTopics(cluster, topics, via);
  return [
    ...silent,
    ...checkBrokers(settings, state, scope),
    ...read.failed,
    ...checkInternalTopics(state, read.settings),
    ...checkOurTopics(state, scope, read.settings),
  ];
}

/** null: this login may not read them. */
type Settings = ReadonlyMap<string, string> | null;

/** Of a broker that does not respond. */
const SILENT: Settings = new Map<string, string>();

async function readBrokers(cluster: KafkaClusterReader, { brokers }: KafkaClusterState) {
  const settings = new Map<number, Settings>();
  const silent: Finding[] = [];
  for (const id of brokers) {
    const found = cluster.brokerSettings(id).catch((error: unknown) => {
      silent.push(unanswered(error, `broker ${String(id)}: `));
      return SILENT;
    });
    settings.set(id, await found);
  }
  return { settings, silent };
}

interface ReadTopics {
  readonly settings: ReadonlyMap<string, Settings>;
  readonly failed: readonly Finding[];
}

const NOTHING_READ: ReadTopics = { settings: new Map(), failed: [] };

async function readTopics(cluster: KafkaClusterReader, topics: readonly string[], via: number): Promise<ReadTopics> {
  const settings = new Map<string, Settings>();
  const failed: Finding[] = [];
  for (const name of topics) {
    try {
      settings.set(name, await cluster.topicSettings(name, via));
    } catch (error) {
      failed.push(unanswered(error, `settings of ${name}: `));
    }
  }
  return { settings, failed };
}

function checkBrokers(
  brokers: ReadonlyMap<number, Settings>,
  { topics }: KafkaClusterState,
  { replicationFactor, user }: KafkaScope,
): Finding[] {
  const replicas = [...topics.values()].flatMap((partitions) => partitions.flatMap((partition) => partition.replicas));
  const away = [...new Set(replicas)].filter((id) => !brokers.has(id)).sort((a, b) => a - b);
  const sizes = allTopics.map(({ configs }) => Number(configs['max.message.bytes'] ?? 0));
  const internalTopics = [...topics.keys()].filter((name) => name.startsWith('__'));
  const checked = checkCluster(
    { brokers, away, knowsAway: replicas.length > 0, internalTopics },
    { replicationFactor, maxMessageBytes: Math.max(...sizes) },
  );
  // No application is granted this.
  const isMissed = isSetUp(user) && [...brokers.values()].includes(null);
  return [...checked, ...(isMissed ? [unseen('settings of the brokers', 'the cluster')] : [])];
}

function checkOurTopics(
  { topics }: KafkaClusterState,
  scope: KafkaScope,
  settings: ReadonlyMap<string, Settings>,
): Finding[] {
  const found = new Map<string, FoundTopic>();
  for (const { name } of scope.topics) {
    const list = topics.get(name);
    if (list !== undefined) found.set(name, foundTopic(list, settings.get(name) ?? null));
  }
  const closed = [...found.keys()].filter((name) => settings.get(name) === null && scope.readable.has(name));
  return [...checkTopics(scope, found), ...closed.map((name) => unseen(`settings of ${name}`, `the topic ${name}`))];
}

/** Without them no transaction is committed and no group is joined, whatever our topics are like. */
function checkInternalTopics({ topics }: KafkaClusterState, settings: ReadonlyMap<string, Settings>): Finding[] {
  return [...topics].flatMap(([name, list]) =>
    INTERNAL_TOPICS.includes(name) ? checkWritable(name, foundTopic(list, settings.get(name) ?? null)) : [],
  );
}

function foundTopic(list: readonly KafkaPartition[], configs: ReadonlyMap<string, string> | null): FoundTopic {
  const led = list.filter(({ leader }) => leader !== null);
  return {
    partitions: list.length,
    replicas: Math.min(...list.map(({ replicas }) => replicas.length)),
    inSync: led.length === 0 ? null : Math.min(...led.map(({ inSync }) => inSync.length)),
    leaderless: list.length - led.length,
    behind: list.filter(({ replicas, inSync }) => inSync.length < replicas.length).length,
    configs: configs ?? new Map(),
  };
}

function unseen(what: string, resource: string): Finding {
  return warning(ABOUT, `the ${what} cannot be read`, `Grant this login DescribeConfigs on ${resource}.`);
}
