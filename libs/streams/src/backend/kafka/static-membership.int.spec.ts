import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { RebalanceListener, GroupMember, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';

const brokers = (process.env['WAYPOST_TEST_BROKERS'] ?? '').split(',');
const kafka = new Kafka({ brokers, clientId: 'static-membership', logLevel: logLevel.NOTHING });
const SESSION_TIMEOUT_MS = 12_000;

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
  it('leaves no partition unassigned: its successor, which holds none, requests another round', async () => {
    const [topic, groupId] = [`static-${randomUUID()}`, `static-${randomUUID()}`];
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 4, replicationFactor: 1 }] });
    const stuck = await join(groupId, topic, 'one', never);
    const other = await join(groupId, topic, 'two', atOnce);
    await until(() => stuck.latest().length === 2);
    expect(other.latest()).toEqual([]);

    const replacedAt = Date.now();
    const successor = await join(groupId, topic, 'one', atOnce);
    await until(() => other.latest().length === 2);

    expect([...successor.latest(), ...other.latest()].sort()).toEqual([0, 1, 2, 3]);
    expect(Date.now() - replacedAt).toBeLessThan(SESSION_TIMEOUT_MS); // no session had to run out
    await until(() => stuck.failures.length > 0);
    await Promise.all([stuck.member.leave(), successor.member.leave(), other.member.leave()]);
  }, 30_000);
});
