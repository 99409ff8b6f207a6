import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import type { GroupMember } from '../backend.js';
import { groupMembers, SESSION_TIMEOUT_MS } from '../testing/group-members.js';

const { createTopic, join } = groupMembers('group-leave');

/** Like a member with a busy event loop: its next heartbeat is late, and only that reports the rebalance. */
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
    await createTopic(topic);
    const stays = await join({ groupId, topic });
    const leaves = await join({ groupId, topic, ...(instanceId === undefined ? {} : { instanceId }) });
    const quicken = slowDown(stays.member, 2_000);
    await sleep(300);
    const joining = join({ groupId, topic });
    await sleep(800);
    const leftAt = Date.now();
    await leaves.member.leave();
    quicken();
    const joins = await joining;
    const shared = (): number[] => [...stays.latest(), ...joins.latest()].sort();
    await until(() => expect(shared()).toEqual([0, 1, 2, 3]));
    expect(Date.now() - leftAt).toBeLessThan(SESSION_TIMEOUT_MS - 1_500);
    expect([...stays.failures, ...leaves.failures, ...joins.failures]).toEqual([]);
    await Promise.all([stays.member.leave(), joins.member.leave()]);
  });
});
