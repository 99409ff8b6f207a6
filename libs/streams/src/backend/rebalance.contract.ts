import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { TopicPartition } from '../record.js';
import type { BackendUnderTest } from './backend.contract.js';
import type { GroupMember } from './backend.js';

const PARTITIONS = 6;
/** A move takes two rebalances; a member notices each at its next heartbeat. */
const SOON_MS = 2_000;

interface Worker {
  readonly member: GroupMember;
  /** The partitions in use: assigned, or not released yet. */
  readonly working: () => number[];
  readonly assigned: () => number[];
  leave(): Promise<void>;
  /** Leaves without releasing partitions, as in a crash. */
  crash(): Promise<void>;
}

interface Floor {
  hire(revokeMs: () => number): Promise<Worker>;
  /** Makes all remaining members leave: one that stays would keep the process alive. */
  close(): Promise<void>;
  /** Partitions that were assigned to one member while another processed them. */
  readonly collisions: readonly string[];
  /** Times of the changes of each partition's worker. */
  readonly taken: ReadonlyMap<number, number>;
}

/** Members that process their partitions and release them slowly, and an observer of all. */
async function openFloor({ backend, createTopic, uniqueName }: BackendUnderTest): Promise<Floor> {
  const topic = await createTopic(PARTITIONS);
  const groupId = uniqueName('group');
  const workers = new Map<number, number>();
  const taken = new Map<number, number>();
  const collisions: string[] = [];
  const present = new Set<Worker>();
  let hired = 0;
  const hire = async (revokeMs: () => number): Promise<Worker> => {
    const name = ++hired;
    const member = backend.group({ groupId, topics: [topic] });
    let assigned: number[] = [];
    // A leaving member accepts no further assignment, even one already sent.
    let isGoing = false;
    const mine = (): number[] => [...workers].flatMap(([partition, worker]) => (worker === name ? [partition] : []));
    const drop = (partitions: readonly number[]): void => {
      for (const partition of partitions) if (workers.get(partition) === name) workers.delete(partition);
    };
    await member.join({
      assigned: async ({ partitions }) => {
        if (isGoing) return;
        assigned = partitions.map(({ partition }) => partition);
        for (const partition of assigned) {
          const worker = workers.get(partition);
          if (worker !== undefined && worker !== name)
            collisions.push(`${String(partition)} of ${String(worker)} was given to ${String(name)}`);
          if (worker !== name) taken.set(partition, Date.now());
          workers.set(partition, name);
        }
        if (mine().length > assigned.length) await sleep(revokeMs(), undefined, { ref: false });
        drop(mine().filter((partition) => !assigned.includes(partition)));
      },
      failed: (error) => {
        throw error;
      },
    });
    const worker: Worker = {
      member,
      working: mine,
      assigned: () => assigned,
      leave: async () => {
        await sleep(revokeMs());
        await worker.crash();
      },
      crash: async () => {
        isGoing = true;
        present.delete(worker);
        drop(mine());
        await member.leave();
      },
    };
    present.add(worker);
    return worker;
  };
  const close = async (): Promise<void> => {
    await Promise.all([...present].map((worker) => worker.crash()));
  };
  return { hire, close, collisions, taken };
}

function shared(workers: readonly Worker[]): boolean {
  const all = workers.flatMap((worker) => worker.assigned());
  const sizes = workers.map((worker) => worker.assigned().length);
  return new Set(all).size === PARTITIONS && Math.max(...sizes) - Math.min(...sizes) <= 1;
}

/** Checks that a partition moves between two living members without a moment at which both work on it. */
export function describeRebalance(name: string, subject: () => BackendUnderTest): void {
  describe(`${name}: rebalances`, () => {
    const floors: Floor[] = [];
    const open = async (): Promise<Floor> => {
      const floor = await openFloor(subject());
      floors.push(floor);
      return floor;
    };
    afterEach(() => Promise.all(floors.splice(0).map((floor) => floor.close())));

    it('assigns a partition to another member only after its owner has released it, and soon after', async () => {
      const floor = await open();
      const first = await floor.hire(() => 600);
      const startedAt = Date.now();
      const second = await floor.hire(() => 0);
      await until(() => shared([first, second]));
      const waitedMs = second.assigned().map((partition) => (floor.taken.get(partition) ?? 0) - startedAt);
      expect(floor.collisions).toEqual([]);
      expect(Math.min(...waitedMs)).toBeGreaterThanOrEqual(600);
      expect(Math.max(...waitedMs)).toBeLessThan(600 + SOON_MS);
      await Promise.all([first.crash(), second.crash()]);
    });

    it('does not touch partitions that stay', async () => {
      const floor = await open();
      const first = await floor.hire(() => 50);
      const before = new Map(floor.taken);
      const second = await floor.hire(() => 50);
      await until(() => shared([first, second]));
      for (const partition of first.assigned()) expect(floor.taken.get(partition)).toBe(before.get(partition));
      await Promise.all([first.crash(), second.crash()]);
    });

    it('does not wait for an owner that is gone, even while it was revoking', async () => {
      const floor = await open();
      const first = await floor.hire(() => 60_000);
      const second = await floor.hire(() => 0);
      await until(() => first.assigned().length === PARTITIONS / 2);
      expect(second.assigned()).toEqual([]);
      const goneAt = Date.now();
      await first.crash();
      await until(() => shared([second]));
      expect(Date.now() - goneAt).toBeLessThan(SOON_MS);
      await second.crash();
    });

    it('withholds partitions that are still being revoked when another member joins meanwhile', async () => {
      const floor = await open();
      const first = await floor.hire(() => 900);
      const second = await floor.hire(() => 0);
      await until(() => first.assigned().length === PARTITIONS / 2);
      const third = await floor.hire(() => 0); // in the middle of the first move
      await until(() => shared([first, second, third]));
      expect(floor.collisions).toEqual([]);
      await Promise.all([first.crash(), second.crash(), third.crash()]);
    });

    it('gives the partitions of one number to one member, where topics are joined', async () => {
      const { backend, createTopic, uniqueName } = subject();
      const topics = [await createTopic(PARTITIONS), await createTopic(PARTITIONS)];
      const group = { groupId: uniqueName('group'), topics, joinsTopics: true };
      const members = [backend.group(group), backend.group(group)];
      const shares: (readonly TopicPartition[])[] = [];
      for (const [index, member] of members.entries()) {
        await member.join({
          assigned: ({ partitions }) => void (shares[index] = partitions),
          failed: (error) => {
            throw error;
          },
        });
      }
      await until(() => {
        const numbers = shares.map((share) =>
          topics.map((topic) => share.flatMap((at) => (at.topic === topic ? at.partition : [])).sort()),
        );
        for (const [first, second] of numbers) expect([second, first?.length]).toEqual([first, PARTITIONS / 2]);
        expect(new Set(numbers.flat(2)).size).toBe(PARTITIONS);
      });
      await Promise.all(members.map((member) => member.leave()));
    });

    it.each([1, 2])(
      'never has two owners of one partition, whatever members join and leave (sequence %i)',
      async (seed) => {
        const floor = await open();
        let state = seed;
        const random = (below: number): number => {
          state = (state * 48_271) % 2_147_483_647;
          return state % below;
        };
        const revokeMs = (): number => random(150);
        let staff = [await floor.hire(revokeMs)];
        for (let step = 0; step < 8; step++) {
          const goes = staff.length > 1 && random(5) < 2 ? staff[random(staff.length)] : undefined;
          staff = goes ? staff.filter((worker) => worker !== goes) : [...staff, await floor.hire(revokeMs)];
          await goes?.leave();
          await sleep(random(400));
        }
        await until(() => shared(staff));
        expect(floor.collisions).toEqual([]);
        await Promise.all(staff.map((worker) => worker.crash()));
      },
      60_000,
    );
  });
}
