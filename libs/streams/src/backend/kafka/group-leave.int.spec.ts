import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { Assignment, GroupMember, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';

const brokers = (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(',');
const kafka = new Kafka({ brokers, clientId: 'group-leave', logLevel: logLevel.NOTHING });
const SESSION_TIMEOUT_MS = 12_000;

let admin: Admin;
let backend: StreamsBackend;

beforeAll(async () => {
  admin = kafka.admin();
  backend = createKafkaBackend({ kafka: { brokers, clientId: 'group-leave' }, logger: silentLogger, now: Date.now });
  await admin.connect();
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), backend.close()]);
});

interface Joined {
  readonly member: GroupMember;
  readonly latest: () => readonly number[];
}

async function join(groupId: string, topic: string, instanceId?: string): Promise<Joined> {
  const member = backend.group({ groupId, topics: [topic], instanceId, sessionTimeoutMs: SESSION_TIMEOUT_MS });
  let assignment: Assignment | null = null;
  await member.join({
    assigned: (given) => {
      assignment = given;
    },
    failed: (error) => {
      throw error;
    },
  });
  return { member, latest: () => (assignment?.partitions ?? []).map(({ partition }) => partition) };
}

/** As a member is whose event loop is busy: it hears of a rebalance at its next heartbeat only, and that is late. */
function slowDown(member: GroupMember, ms: number): () => void {
  const slowed = member as unknown as { pause(ms: number): Promise<void>; interrupt: () => void };
  const pause = slowed.pause.bind(member);
  slowed.pause = () => sleep(ms);
  slowed.interrupt();
  return () => {
    slowed.pause = pause;
  };
}

describe.each([
  ['a dynamic member', undefined],
  ['a static member', 'instance-b'],
])('%s that leaves in the middle of a rebalance', (_name, instanceId) => {
  it('is gone at once, and the others share its partitions long before its session is over', async () => {
    const topic = `leave-${randomUUID()}`;
    const groupId = `leave-${randomUUID()}`;
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 4, replicationFactor: 1 }] });
    const stays = await join(groupId, topic);
    const leaves = await join(groupId, topic, instanceId);
    const quicken = slowDown(stays.member, 2_000);
    await sleep(300);
    const joining = join(groupId, topic);
    await sleep(800);
    const leftAt = Date.now();
    await leaves.member.leave();
    quicken();
    const joins = await joining;
    const shared = (): number[] => [...stays.latest(), ...joins.latest()].sort();
    await until(() => {
      expect(shared()).toEqual([0, 1, 2, 3]);
    });
    expect(Date.now() - leftAt).toBeLessThan(SESSION_TIMEOUT_MS - 1_500);
    await Promise.all([stays.member.leave(), joins.member.leave()]);
  });
});
