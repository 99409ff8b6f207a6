import { allTopics, type KafkaUser } from '@waypost/contracts';
import { kafkaRefused, type TopicConfig } from '@waypost/platform';
import { connectKafka, type KafkaSettings, probeKafkaAccess } from '@waypost/streams';
import { checkCluster } from './broker-checks.js';
import { examinePermissions } from './examine-permissions.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { checkTopics, type FoundTopic, type WantedTopic } from './topic-checks.js';

type Admin = ReturnType<ReturnType<typeof connectKafka>['admin']>;
type ResourceType = Parameters<Admin['describeConfigs']>[0]['resources'][number]['type'];

/** Kafka's numbers of the kinds of things that have settings. */
const TOPIC = 2 as unknown as ResourceType;
const BROKER = 4 as unknown as ResourceType;

/**
 * Reads what the cluster says of itself. Creates nothing.
 * @param user whose login it is; absent: that of all applications
 */
export async function examineKafka(settings: KafkaSettings, wishes: TopicConfig, user?: KafkaUser): Promise<Finding[]> {
  const access = await probeKafkaAccess(settings);
  if (access.type === 'refused') return [problem('kafka', access.reason, kafkaRefused(access).message)];
  if (access.type === 'away')
    return [problem('kafka', `no broker answers: ${access.reason}`, 'Check KAFKA_BROKERS, and that the port is open.')];
  const admin = connectKafka(settings).admin();
  await admin.connect();
  try {
    return [
      ok('kafka', 'the brokers accept this client'),
      ...(await examineBrokers(admin, wishes)),
      ...(await examineTopics(admin, wishes)),
      ...(await examinePermissions(settings, user)),
    ];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [problem('kafka', reason, 'Grant this user Describe and DescribeConfigs on the cluster and on our topics.')];
  } finally {
    await admin.disconnect();
  }
}

async function examineBrokers(admin: Admin, { replicationFactor }: TopicConfig): Promise<Finding[]> {
  const { brokers } = await admin.describeCluster();
  const [first] = brokers;
  const settings = first === undefined ? null : await configsOf(admin, BROKER, String(first.nodeId));
  const sizes = allTopics.map(({ configs }) => Number(configs['max.message.bytes'] ?? 0));
  const found = checkCluster(
    { brokers: brokers.length, settings: settings ?? new Map() },
    { replicationFactor, maxMessageBytes: Math.max(...sizes) },
  );
  return settings === null ? [...found, unseen('settings of the brokers', 'the cluster')] : found;
}

async function examineTopics(admin: Admin, { partitions, replicationFactor }: TopicConfig): Promise<Finding[]> {
  const present = new Set(await admin.listTopics());
  const ours = allTopics.filter(({ name }) => present.has(name));
  const { topics } =
    ours.length === 0 ? { topics: [] } : await admin.fetchTopicMetadata({ topics: ours.map(({ name }) => name) });
  const found = new Map<string, FoundTopic>();
  const closed: Finding[] = [];
  for (const { name, partitions: list } of topics) {
    const configs = await configsOf(admin, TOPIC, name);
    if (configs === null) closed.push(unseen(`settings of ${name}`, `the topic ${name}`));
    found.set(name, {
      partitions: list.length,
      replicas: Math.min(...list.map(({ replicas }) => replicas.length)),
      behind: list.filter(({ replicas, isr }) => isr.length < replicas.length).length,
      configs: configs ?? new Map(),
    });
  }
  const wanted = allTopics.map((topic): WantedTopic => ({
    ...topic,
    partitions: topic.partitions === 'default' ? partitions : topic.partitions,
  }));
  return [...checkTopics(wanted, found, replicationFactor), ...closed];
}

function unseen(what: string, resource: string): Finding {
  return warning('kafka', `the ${what} cannot be read`, `Grant this login DescribeConfigs on ${resource}.`);
}

/** null: this login may not see them. */
async function configsOf(admin: Admin, type: ResourceType, name: string): Promise<Map<string, string> | null> {
  const described = await admin
    .describeConfigs({ includeSynonyms: false, resources: [{ type, name }] })
    .catch((error: unknown) => {
      if (/authoriz(ed|ation)/i.test(String(error))) return null;
      throw error;
    });
  if (described === null) return null;
  const { resources } = described;
  const entries = resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
