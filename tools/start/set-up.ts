import { setUpKafka } from '@waypost/contracts';
import { runMigrations } from '@waypost/history-store';
import type { TopicConfig } from '@waypost/platform';
import type { DevStack } from '../dev-stack/index.js';
import { openTopicAdmin } from '../kafka-admin/topic-admin.js';

/** What the applications expect to find: topics, schemas, tables. May be run at every start. */
export async function setUpStack(stack: DevStack, topics: TopicConfig): Promise<void> {
  await Promise.all([setUpTopics(stack, topics), runMigrations(stack.databaseUrl)]);
}

async function setUpTopics(
  { kafka, registryUrl, registryCa }: DevStack,
  { partitions, replicationFactor }: TopicConfig,
): Promise<void> {
  const admin = await openTopicAdmin(kafka);
  try {
    await setUpKafka({ admin, registryUrl, registryCa, partitions, replicationFactor });
  } finally {
    await admin.close();
  }
}
