import { afterAll, beforeAll } from '@jest/globals';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { makeTopics } from '../../../../../test/support/make-topics.js';
import { requireTestStack } from '../../../../../test/support/test-stack.js';
import { silentLogger } from '../../logger.js';
import type { GroupMember, RebalanceListener, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from '../kafka/kafka-backend.js';

export const SESSION_TIMEOUT_MS = 12_000;

export interface JoinedMember {
  readonly member: GroupMember;
  /** The partitions of its newest assignment. */
  readonly latest: () => readonly number[];
  readonly failures: readonly unknown[];
}

interface JoinOptions {
  readonly groupId: string;
  readonly topic: string;
  readonly instanceId?: string;
  /** Called with each assignment; what it returns ends the revocation. */
  readonly revoked?: () => ReturnType<RebalanceListener['assigned']>;
}

/** Members of consumer groups on the test broker, opened and closed with the suite. */
export function groupMembers(clientId: string) {
  const { brokers } = requireTestStack();
  let admin: Admin;
  let backend: StreamsBackend;

  beforeAll(async () => {
    admin = new Kafka({ brokers, clientId, logLevel: logLevel.NOTHING }).admin();
    backend = createKafkaBackend({ kafka: { brokers, clientId }, logger: silentLogger, now: Date.now });
    await admin.connect();
  });
  afterAll(() => Promise.all([admin.disconnect(), backend.close()]));

  return {
    createTopic: (topic: string) => makeTopics(admin, [{ topic, numPartitions: 4, replicationFactor: 1 }]),
    async join({ groupId, topic, instanceId, revoked }: JoinOptions): Promise<JoinedMember> {
      const member = backend.group({ groupId, topics: [topic], instanceId, sessionTimeoutMs: SESSION_TIMEOUT_MS });
      let latest: readonly number[] = [];
      const failures: unknown[] = [];
      await member.join({
        assigned: ({ partitions }) => {
          latest = partitions.map(({ partition }) => partition);
          return revoked?.();
        },
        failed: (error) => failures.push(error),
      });
      return { member, latest: () => latest, failures };
    },
  };
}
