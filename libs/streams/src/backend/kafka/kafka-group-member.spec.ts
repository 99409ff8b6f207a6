import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../logger.js';
import type { GroupMember, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';
import { type FakeCluster, startFakeCluster } from './testing/fake-broker.js';

const COORDINATOR_LOAD_IN_PROGRESS = 14;
const SESSION_TIMEOUT_MS = 1_000;

let cluster: FakeCluster;
let backend: StreamsBackend;
let member: GroupMember;
let coordinatorIsAway: boolean;
let partitions: number;
let latest: number[];

beforeEach(async () => {
  coordinatorIsAway = false;
  partitions = 2;
  latest = [];
  cluster = await startFakeCluster({
    answer: ({ api }) => (coordinatorIsAway && api === 'Heartbeat' ? COORDINATOR_LOAD_IN_PROGRESS : 0),
    partitions: () => partitions,
    batch: Buffer.alloc(0),
  });
  const kafka = { brokers: cluster.brokers, clientId: 'member' };
  // A wall clock that stands still.
  backend = createKafkaBackend({ kafka, logger: silentLogger, now: () => 0 });
  member = backend.group({ groupId: 'group', topics: ['topic'], sessionTimeoutMs: SESSION_TIMEOUT_MS });
  await member.join({
    assigned: (assignment) => {
      latest = assignment.partitions.map(({ partition }) => partition);
    },
    failed: () => undefined,
  });
});

afterEach(async () => {
  await member.leave();
  await backend.close();
  await cluster.close();
});

async function within(ms: number, condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!condition() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  return condition();
}

describe('a member of a group', () => {
  it('loses its lease without heartbeats, whatever the wall clock says', async () => {
    expect(member.leaseValid()).toBe(true);
    coordinatorIsAway = true;
    expect(await within(2 * SESSION_TIMEOUT_MS, () => !member.leaseValid())).toBe(true);
  });

  it('gets partitions that were added, once it joins again', async () => {
    expect(latest).toEqual([0, 1]);
    partitions = 3;
    member.rejoin();
    expect(await within(2 * SESSION_TIMEOUT_MS, () => latest.length === 3)).toBe(true);
    expect(await backend.partitionCount('topic', { fresh: true })).toBe(3);
  });
});
