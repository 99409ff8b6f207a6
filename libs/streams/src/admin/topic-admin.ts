import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
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
  /** Returns one setting per topic, broker defaults included. The topics must exist. */
  topicSetting(names: readonly string[], setting: string): Promise<ReadonlyMap<string, string>>;
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
    topicSetting: (names, setting) => topicSetting(admin, names, setting),
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
  await untilTopicsKnown(
    admin,
    specs.map(({ name }) => name),
  );
}

async function topicSetting(
  admin: Admin,
  names: readonly string[],
  setting: string,
): Promise<ReadonlyMap<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames: [setting] })),
  });
  return new Map(
    resources.flatMap(({ resourceName, configEntries }) =>
      configEntries.map(({ configValue }): [string, string] => [resourceName, configValue]),
    ),
  );
}

/** The request that kafkajs knows resets every setting of the topic that it does not name. */
async function changeSetting(admin: Admin, name: string, setting: string, value: string): Promise<void> {
  const type = ConfigResourceTypes.TOPIC;
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name }] });
  const own = resources.flatMap(({ configEntries }) =>
    configEntries.filter(
      ({ configName, configSource }) => configSource === ConfigSource.TOPIC_CONFIG && configName !== setting,
    ),
  );
  const configEntries = [
    ...own.map((entry) => ({ name: entry.configName, value: entry.configValue })),
    { name: setting, value },
  ];
  await admin.alterConfigs({ validateOnly: false, resources: [{ type, name, configEntries }] });
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
