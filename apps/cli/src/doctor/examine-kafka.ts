import { allTopics } from '@waypost/contracts';
import { kafkaRefused, type TopicConfig } from '@waypost/platform';
import { connectKafka, type KafkaSettings, probeKafkaAccess } from '@waypost/streams';
import { checkCluster } from './broker-checks.js';
import { type Finding, ok, problem } from './finding.js';
import { checkTopics, type FoundTopic, type WantedTopic } from './topic-checks.js';

type Admin = ReturnType<ReturnType<typeof connectKafka>['admin']>;
type ResourceType = Parameters<Admin['describeConfigs']>[0]['resources'][number]['type'];

/** Kafka's numbers of the kinds of things that have settings. */
const TOPIC = 2 as unknown as ResourceType;
const BROKER = 4 as unknown as ResourceType;

/** Reads what the cluster says of itself. Creates nothing. */
export async function examineKafka(settings: KafkaSettings, wishes: TopicConfig): Promise<Finding[]> {
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
  const settings =
    first === undefined ? new Map<string, string>() : await configsOf(admin, BROKER, String(first.nodeId));
  const sizes = allTopics.map(({ configs }) => Number(configs['max.message.bytes'] ?? 0));
  return checkCluster(
    { brokers: brokers.length, settings },
    { replicationFactor, maxMessageBytes: Math.max(...sizes) },
  );
}

async function examineTopics(admin: Admin, { partitions, replicationFactor }: TopicConfig): Promise<Finding[]> {
  const present = new Set(await admin.listTopics());
  const ours = allTopics.filter(({ name }) => present.has(name));
  const { topics } =
    ours.length === 0 ? { topics: [] } : await admin.fetchTopicMetadata({ topics: ours.map(({ name }) => name) });
  const found = new Map<string, FoundTopic>();
  for (const { name, partitions: list } of topics)
    found.set(name, {
      partitions: list.length,
      replicas: Math.min(...list.map(({ replicas }) => replicas.length)),
      behind: list.filter(({ replicas, isr }) => isr.length < replicas.length).length,
      configs: await configsOf(admin, TOPIC, name),
    });
  const wanted = allTopics.map((topic): WantedTopic => ({
    ...topic,
    partitions: topic.partitions === 'default' ? partitions : topic.partitions,
  }));
  return checkTopics(wanted, found, replicationFactor);
}

async function configsOf(admin: Admin, type: ResourceType, name: string): Promise<Map<string, string>> {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name }] });
  const entries = resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
