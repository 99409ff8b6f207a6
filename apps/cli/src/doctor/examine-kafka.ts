import { allTopics, type KafkaUser } from '@waypost/contracts';
import { kafkaRefused, probeKafkaAccess, type TopicConfig } from '@waypost/platform/without-nest';
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
import { checkTopics, checkWritable, type FoundTopic, type WantedTopic } from './topic-checks.js';

const ABOUT = 'kafka';

/**
 * Reads what the cluster says of itself. Creates nothing.
 * @param user whose login it is; absent: that of all applications
 */
export async function examineKafka(settings: KafkaSettings, wishes: TopicConfig, user?: KafkaUser): Promise<Finding[]> {
  const access = await probeKafkaAccess(settings);
  if (access.type === 'refused') return [problem(ABOUT, access.reason, kafkaRefused(access).message)];
  if (access.type === 'away')
    return [problem(ABOUT, `no broker responds: ${access.reason}`, 'Check KAFKA_BROKERS, and that the port is open.')];
  const cluster = openClusterReader(settings);
  const accepted = [ok(ABOUT, 'the brokers accept this client'), ...checkPassword(settings)];
  try {
    const [found, rights] = [await examineCluster(cluster, wishes), await examinePermissions(settings, user)];
    return [...accepted, ...found, ...rights];
  } catch (error) {
    return [...accepted, unanswered(error)];
  } finally {
    await cluster.close();
  }
}

function unanswered(error: unknown, where = ''): Finding {
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

export async function examineCluster(cluster: KafkaClusterReader, wishes: TopicConfig): Promise<Finding[]> {
  const state = await cluster.state();
  return [
    ...(await examineBrokers(cluster, state, wishes)),
    ...(await examineInternalTopics(cluster, state)),
    ...(await examineTopics(cluster, state, wishes)),
  ];
}

async function examineBrokers(
  cluster: KafkaClusterReader,
  { brokers: up, topics }: KafkaClusterState,
  { replicationFactor }: TopicConfig,
): Promise<Finding[]> {
  const brokers = new Map<number, ReadonlyMap<string, string> | null>();
  const findings: Finding[] = [];
  for (const id of up) {
    const settings = await cluster.brokerSettings(id).catch((error: unknown) => {
      findings.push(unanswered(error, `broker ${String(id)}: `));
      return new Map<string, string>();
    });
    brokers.set(id, settings);
  }
  const replicas = [...topics.values()].flatMap((partitions) => partitions.flatMap((partition) => partition.replicas));
  const away = [...new Set(replicas)].filter((id) => !brokers.has(id)).sort((a, b) => a - b);
  const sizes = allTopics.map(({ configs }) => Number(configs['max.message.bytes'] ?? 0));
  const checked = checkCluster(
    { brokers, away, internalTopics: [...topics.keys()].filter((name) => name.startsWith('__')) },
    { replicationFactor, maxMessageBytes: Math.max(...sizes) },
  );
  const isClosed = [...brokers.values()].includes(null);
  return [...findings, ...checked, ...(isClosed ? [unseen('settings of the brokers', 'the cluster')] : [])];
}

async function examineTopics(
  cluster: KafkaClusterReader,
  { topics }: KafkaClusterState,
  { partitions, replicationFactor }: TopicConfig,
): Promise<Finding[]> {
  const found = new Map<string, FoundTopic>();
  const closed: Finding[] = [];
  for (const { name } of allTopics) {
    const list = topics.get(name);
    if (list === undefined) continue;
    const configs = await cluster.topicSettings(name);
    if (configs === null) closed.push(unseen(`settings of ${name}`, `the topic ${name}`));
    found.set(name, foundTopic(list, configs));
  }
  const wanted = allTopics.map((topic): WantedTopic => ({
    ...topic,
    partitions: topic.partitions === 'default' ? partitions : topic.partitions,
  }));
  return [...checkTopics(wanted, found, replicationFactor), ...closed];
}

/** Without them no transaction is committed and no group is joined, whatever our topics are like. */
async function examineInternalTopics(cluster: KafkaClusterReader, { topics }: KafkaClusterState): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, list] of topics) {
    if (!INTERNAL_TOPICS.includes(name)) continue;
    findings.push(...checkWritable(name, foundTopic(list, await cluster.topicSettings(name))));
  }
  return findings;
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
