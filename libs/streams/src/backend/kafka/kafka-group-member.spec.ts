import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { GroupMember, StreamsBackend } from '../backend.js';
import { createKafkaBackend } from './kafka-backend.js';
import { type FakeCluster, startFakeCluster } from './testing/fake-broker.js';

const COORDINATOR_LOAD_IN_PROGRESS = 14;

interface JoinOptions {
  readonly sessionTimeoutMs?: number;
  readonly partitionCounts?: ReadonlyMap<string, number>;
  /** Default: a real one. */
  readonly monotonicNow?: () => number;
}

let cluster: FakeCluster;
let backend: StreamsBackend;
let member: GroupMember;
/** The error code of an answer. */
let codeOf: (api: string) => number;
let partitions: number;
let latest: number[];

beforeEach(async () => {
  codeOf = () => 0;
  partitions = 2;
  latest = [];
  cluster = await startFakeCluster({
    answer: ({ api }) => codeOf(api),
    partitions: () => partitions,
    batch: Buffer.alloc(0),
  });
});

afterEach(async () => {
  await member.leave();
  await backend.close();
  await cluster.close();
});

async function join({ sessionTimeoutMs = 1_000, partitionCounts, ...clock }: JoinOptions = {}): Promise<void> {
  const kafka = { brokers: cluster.brokers, clientId: 'member' };
  // A wall clock that stands still.
  backend = createKafkaBackend({ kafka, logger: silentLogger, now: () => 0, ...clock });
  member = backend.group({ groupId: 'group', topics: ['topic'], sessionTimeoutMs, partitionCounts });
  await member.join({
    assigned: (assignment) => {
      latest = assignment.partitions.map(({ partition }) => partition);
    },
    failed: () => undefined,
  });
}

describe('a member of a group', () => {
  it('loses its lease without heartbeats, whatever the wall clock says', async () => {
    await join();
    expect(member.leaseValid()).toBe(true);
    codeOf = (api) => (api === 'Heartbeat' ? COORDINATOR_LOAD_IN_PROGRESS : 0);
    await until(() => !member.leaseValid());
  });

  it.each(['SyncGroup', 'Heartbeat'])(
    'has its lease for 0.7 of its session since it sent the last accepted %s, however late the answer',
    async (late) => {
      const sessionTimeoutMs = 6_000;
      let clock = 0;
      let sentAt = 0;
      let answers = 0;
      let refusals = 0;
      codeOf = (api) => {
        if (api === 'Heartbeat' && (late !== 'Heartbeat' || answers === 2)) {
          refusals += 1;
          return COORDINATOR_LOAD_IN_PROGRESS;
        }
        if (api === late) {
          answers += 1;
          sentAt = clock;
          clock += 0.3 * sessionTimeoutMs;
        }
        return 0;
      };
      await join({ monotonicNow: () => clock, sessionTimeoutMs });
      await until(() => refusals > 0);
      clock = sentAt + 0.69 * sessionTimeoutMs;
      expect(member.leaseValid()).toBe(true);
      clock = sentAt + 0.71 * sessionTimeoutMs;
      expect(member.leaseValid()).toBe(false);
    },
  );

  it('gets partitions that were added, once it joins again', async () => {
    await join();
    expect(latest).toEqual([0, 1]);
    partitions = 3;
    member.rejoin();
    await until(() => latest.length === 3);
    expect(await backend.partitionCount('topic', { fresh: true })).toBe(3);
  });

  it('gets partitions that its process knows, even if the broker that it asks does not know them yet', async () => {
    const partitionCounts = new Map([['topic', 2]]);
    await join({ partitionCounts });
    expect(latest).toEqual([0, 1]);
    partitionCounts.set('topic', 3);
    member.rejoin();
    await until(() => latest.length === 3);
  });

  it('gets partitions that were added while it joined, and had been counted', async () => {
    let joins = 0;
    codeOf = (api) => {
      if (api !== 'SyncGroup' || joins++ > 0) return 0;
      partitions = 3;
      member.rejoin();
      return 0;
    };
    await join();
    await until(() => latest.length === 3);
    expect(joins).toBe(2);
  });
});
