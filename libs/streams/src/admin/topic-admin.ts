import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Admin, type ConfigEntries } from 'kafkajs';
import { parkingOr } from '../backend/kafka/kafka-errors.js';
import type { KafkaSettings } from '../kafka-settings.js';
import type { TopicSpec } from '../topology/topics.js';
import { openAdmin } from './kafka-connection.js';

// kafkajs is CommonJS, and Node does not find these names as named exports.
const { ConfigResourceTypes, ConfigSource, KafkaJSAggregateError } = kafkajs;

const CREATE_TIMEOUT_MS = 30_000;
/** Brokers take long to create thousands of partitions. */
const METADATA_TIMEOUT_MS = 60_000;
const METADATA_POLL_MS = 100;

export interface TopicAdmin {
  listTopics(): Promise<readonly string[]>;
  /**
   * Resolves when the topics have leaders; a topic that exists by now is not an error.
   * @throws {StreamsError} REQUEST_REFUSED, ACCESS_DENIED: why the brokers refuse a topic
   */
  createTopics(topics: readonly TopicSpec[]): Promise<void>;
  partitionCounts(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Includes broker defaults. The topic must exist. */
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
  /** Changes one setting of a topic and keeps its others. Resolves before all brokers have learned of it. */
  changeSetting(name: string, setting: string, value: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects at once; close it when done.
 * @throws {StreamsError} BROKER_UNAVAILABLE, ACCESS_DENIED: why it cannot connect, after some ten seconds of retries
 */
export async function openTopicAdmin(settings: KafkaSettings): Promise<TopicAdmin> {
  const admin = await openAdmin(settings);
  return {
    listTopics: () => admin.listTopics(),
    createTopics: (specs) => createTopics(admin, specs),
    partitionCounts: (names) => untilTopicsKnown(admin, names),
    topicSettings: async (name) => {
      const entries = await describeTopic(admin, name);
      return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    },
    changeSetting: (name, setting, value) => changeSetting(admin, name, setting, value),
    close: () => admin.disconnect(),
  };
}

/** Sends one request per topic: in a shared request, a topic that already exists would fail the others. */
async function createTopics(admin: Admin, specs: readonly TopicSpec[]): Promise<void> {
  for (const { name, partitions, replicationFactor, configs } of specs) {
    const configEntries = Object.entries(configs).map(([key, value]) => ({ name: key, value }));
    const creating = admin.createTopics({
      topics: [{ topic: name, numPartitions: partitions, replicationFactor, configEntries }],
      // kafkajs treats a topic that the broker does not know yet as an error.
      waitForLeaders: false,
      timeout: CREATE_TIMEOUT_MS,
    });
    await creating.catch((error: unknown) => {
      // The message of kafkajs does not say why.
      const [cause = error] = error instanceof KafkaJSAggregateError ? error.errors : [];
      throw parkingOr(cause, `Creating the topic ${name}`);
    });
  }
  const names = specs.map(({ name }) => name);
  await untilTopicsKnown(admin, names);
}

async function describeTopic(admin: Admin, name: string): Promise<ConfigEntries[]> {
  const resources = [{ type: ConfigResourceTypes.TOPIC, name }];
  const described = await admin.describeConfigs({ includeSynonyms: false, resources });
  return described.resources.flatMap(({ configEntries }) => configEntries);
}

/** The request that kafkajs knows resets every setting of the topic that it does not name. */
async function changeSetting(admin: Admin, name: string, setting: string, value: string): Promise<void> {
  const entries = await describeTopic(admin, name);
  const own = entries.filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG);
  const settings = new Map(own.map(({ configName, configValue }) => [configName, configValue]));
  settings.set(setting, value);
  const configEntries = [...settings].map(([key, content]) => ({ name: key, value: content }));
  const resources = [{ type: ConfigResourceTypes.TOPIC, name, configEntries }];
  await admin.alterConfigs({ validateOnly: false, resources });
}

/**
 * Resolves with the partition counts once all topics are known. Brokers learn of a new topic one after the other, so
 * unknown topics are queried again.
 */
export async function untilTopicsKnown(
  admin: Pick<Admin, 'fetchTopicMetadata'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  for (let waitedMs = 0; ; waitedMs += METADATA_POLL_MS) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
      return new Map(topics.map((topic) => [topic.name, topic.partitions.length]));
    } catch (error) {
      if (waitedMs >= METADATA_TIMEOUT_MS) throw error;
      await sleep(METADATA_POLL_MS);
    }
  }
}
