import { ContractsError } from '../contracts-error.js';
import { createSchemaRegistry, type SchemaRegistryPort } from '../registry/schema-registry.js';
import { allTopics, timesCount, type TopicDefinition } from './topics.js';

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly configs: Readonly<Record<string, string>>;
}

/** The part of a Kafka admin client that the set-up needs. */
export interface TopicAdmin {
  listTopics(): Promise<readonly string[]>;
  /** Resolves when the topics have leaders; a topic that another process created in the meantime is not an error. */
  createTopics(specs: readonly TopicSpec[]): Promise<void>;
  partitionCounts(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The settings of an existing topic, including defaults of the broker. */
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
}

interface SetUpKafkaOptions {
  readonly admin: TopicAdmin;
  readonly registryUrl: string;
  /** PEM of the certificate authorities for the registry. */
  readonly registryCa?: string | undefined;
  /** P: the partitions of every topic that is not fixed to one. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly registry?: SchemaRegistryPort;
}

/** What was created; both are empty if everything existed. */
export interface SetUpResult {
  readonly createdTopics: readonly string[];
  readonly schemaIds: Readonly<Record<string, number>>;
}

/**
 * Creates the missing topics, checks the partitions and settings of the others, and registers every schema with
 * BACKWARD_TRANSITIVE. Safe to run at every start.
 */
export async function setUpKafka(options: SetUpKafkaOptions): Promise<SetUpResult> {
  const registry = options.registry ?? createSchemaRegistry({ url: options.registryUrl, ca: options.registryCa });
  const [createdTopics, schemaIds] = await Promise.all([setUpTopics(options), registerSchemas(registry)]);
  return { createdTopics, schemaIds };
}

async function setUpTopics({ admin, partitions, replicationFactor }: SetUpKafkaOptions): Promise<string[]> {
  const names = new Set(await admin.listTopics());
  const present = allTopics.filter((topic) => names.has(topic.name));
  const missing = allTopics.filter((topic) => !names.has(topic.name));
  // Must come first, so that a wrong WAYPOST_PARTITIONS creates nothing.
  await checkPartitions(admin, present, partitions);
  if (missing.length > 0)
    await admin.createTopics(missing.map((topic) => specOf(topic, partitions, replicationFactor)));
  await checkPartitions(admin, missing, partitions);
  await checkSettings(admin, present);
  return missing.map((topic) => topic.name);
}

async function checkPartitions(
  admin: TopicAdmin,
  topics: readonly TopicDefinition[],
  partitions: number,
): Promise<void> {
  if (topics.length === 0) return;
  const counts = await admin.partitionCounts(topics.map((topic) => topic.name));
  for (const topic of topics) assertPartitions(topic, counts.get(topic.name), expectedPartitions(topic, partitions));
}

function specOf(topic: TopicDefinition, partitions: number, replicationFactor: number): TopicSpec {
  // With three replicas, an acknowledged record survives the loss of any one broker only if two of them hold it. With
  // fewer, the default of the brokers may exceed the replicas, and then applications do not start.
  const minInSync = replicationFactor >= 3 ? '2' : '1';
  return {
    name: topic.name,
    partitions: expectedPartitions(topic, partitions),
    replicationFactor,
    configs: { ...topic.configs, 'min.insync.replicas': minInSync },
  };
}

function expectedPartitions(topic: TopicDefinition, partitions: number): number {
  return topic.partitions === 'default' ? partitions : topic.partitions;
}

/** Tasks pair partitions of different topics by number, so unequal counts would silently lose state and order. */
function assertPartitions(topic: TopicDefinition, found: number | undefined, expected: number): void {
  if (found === expected) return;
  throw new ContractsError(
    'partition_count_differs',
    `Topic ${topic.name} has ${String(found ?? 0)} partitions where ${String(expected)} are expected: ${fixOfPartitions(topic)}.`,
  );
}

/** For people: what to do about a topic with another number of partitions than expected. */
export function fixOfPartitions({ name, partitions }: Pick<TopicDefinition, 'name' | 'partitions'>): string {
  return partitions === 1
    ? 'delete the topic so that it is created again'
    : `set WAYPOST_PARTITIONS to the number that all topics have, or delete ${name} if nothing has been written to it`;
}

/**
 * With producer timestamps, the producer's clock would decide which geofences and settings a ping sees (decision 0028),
 * and when it is deleted. A table that is not compacted loses rows older than its retention.
 */
function mattersOf(topic: TopicDefinition): readonly string[] {
  return [
    ...(timesCount(topic) ? ['message.timestamp.type'] : []),
    ...(topic.cleanup === 'compact' ? ['cleanup.policy'] : []),
  ];
}

async function checkSettings(admin: TopicAdmin, present: readonly TopicDefinition[]): Promise<void> {
  for (const topic of present) {
    const settings = mattersOf(topic).filter((setting) => setting in topic.configs);
    if (settings.length === 0) continue;
    const found = await admin.topicSettings(topic.name);
    for (const setting of settings) assertSetting(topic.name, setting, found.get(setting), topic.configs[setting]);
  }
}

function assertSetting(topic: string, setting: string, found: string | undefined, expected: string | undefined): void {
  if (found === expected) return;
  const wanted = `${setting}=${expected ?? ''}`;
  const fix = `kafka-configs --alter --entity-type topics --entity-name ${topic} --add-config ${wanted}`;
  throw new ContractsError(
    'topic_setting_differs',
    `Topic ${topic} has ${setting}=${found ?? 'unknown'} where ${expected ?? ''} is expected: set it, as with ${fix}.`,
  );
}

async function registerSchemas(registry: SchemaRegistryPort): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const topic of allTopics) {
    ids[topic.subject] = await registry.register(topic.subject, topic.schema);
    await registry.setCompatibility(topic.subject, 'BACKWARD_TRANSITIVE');
  }
  return ids;
}
