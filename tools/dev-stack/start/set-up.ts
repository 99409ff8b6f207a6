import { setUpKafka } from '@waypost/contracts';
import { runMigrations } from '@waypost/database';
import type { TopicConfig } from '@waypost/platform/without-nest';
import { openTopicAdmin } from '@waypost/streams';
import type { DevStack } from '../index.js';

/** Creates what the applications expect to find: topics, schemas, tables. Safe to run at every start. */
export async function setUpStack(stack: DevStack, topics: TopicConfig, signal?: AbortSignal): Promise<void> {
  await Promise.all([setUpTopics(stack, topics), runMigrations(stack.databaseUrl, signal)]);
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
