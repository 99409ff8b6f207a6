import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { silentLogger } from '../../logger.js';
import type { RebalanceListener, GroupMember, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';

const brokers = (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(',');
const kafka = new Kafka({ brokers, clientId: 'static-membership', logLevel: logLevel.NOTHING });
const SESSION_TIMEOUT_MS = 7_000;

let admin: Admin;
let backend: StreamsBackend;

beforeAll(async () => {
  admin = kafka.admin();
  backend = createKafkaBackend({ kafka: { brokers, clientId: 'static' }, logger: silentLogger, now: Date.now });
  await admin.connect();
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), backend.close()]);
});

interface Joined {
  readonly member: GroupMember;
  readonly latest: () => readonly number[];
  readonly failures: readonly unknown[];
}

async function join(
  groupId: string,
  topic: string,
  instanceId: string,
  revoked: () => ReturnType<RebalanceListener['assigned']>,
): Promise<Joined> {
  const member = backend.group({ groupId, topics: [topic], instanceId, sessionTimeoutMs: SESSION_TIMEOUT_MS });
  let latest: readonly number[] = [];
  const failures: unknown[] = [];
  await member.join({
    assigned: ({ partitions }) => {
      latest = partitions.map(({ partition }) => partition);
      return revoked();
    },
    failed: (error) => failures.push(error),
  });
  return { member, latest: () => latest, failures };
}

function never(): Promise<void> {
  return new Promise(() => undefined);
}
function atOnce(): undefined {
  return undefined;
}

describe('a static member that is replaced while it lets go', () => {
  it('leaves nothing behind that nobody gets: its successor, who holds nothing of it, asks for another round', async () => {
    const [topic, groupId] = [`static-${randomUUID()}`, `static-${randomUUID()}`];
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 4, replicationFactor: 1 }] });
    const stuck = await join(groupId, topic, 'one', never);
    const other = await join(groupId, topic, 'two', atOnce);
    while (stuck.latest().length !== 2) await sleep(20);
    expect(other.latest()).toEqual([]);

    const replacedAt = Date.now();
    const successor = await join(groupId, topic, 'one', atOnce);
    while (other.latest().length !== 2 && Date.now() - replacedAt < SESSION_TIMEOUT_MS) await sleep(20);

    expect([...successor.latest(), ...other.latest()].sort()).toEqual([0, 1, 2, 3]);
    expect(Date.now() - replacedAt).toBeLessThan(2_000); // no session had to run out
    while (stuck.failures.length === 0) await sleep(20);
    await Promise.all([stuck.member.leave(), successor.member.leave(), other.member.leave()]);
  }, 30_000);
});
