import type { Admin, ITopicConfig } from 'kafkajs';
import { until } from './until.js';

/**
 * Creates topics and resolves once the leaders of all their partitions answer. Not with kafkajs's `waitForLeaders`, which
 * fails at once on a topic that a busy broker does not know yet.
 */
export async function makeTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ waitForLeaders: false, topics });
  await until(() => Promise.all(topics.map(({ topic }) => admin.fetchTopicOffsets(topic))), { timeoutMs: 60_000 });
}
