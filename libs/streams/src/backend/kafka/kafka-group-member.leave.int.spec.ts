import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import type { GroupMember } from '../backend.js';
import { groupMembers, SESSION_TIMEOUT_MS } from '../testing/group-members.js';

const { createTopic, join } = groupMembers('group-leave');

/** Like a member with a busy event loop: its next heartbeat, which alone reports the rebalance, is held back. */
function holdHeartbeats(member: GroupMember) {
  const held = member as unknown as { pause(ms: number): Promise<void>; readonly pausing: AbortController };
  const pause = held.pause.bind(member);
  let release: (() => void) | undefined;
  held.pause = () => new Promise((resolve) => (release = resolve));
  held.pausing.abort();
  return {
    isHeld: () => release !== undefined,
    release: () => {
      held.pause = pause;
      release?.();
    },
  };
}

/** Whether it has joined once more, since it heard of a rebalance. */
function watchRejoin(member: GroupMember): () => boolean {
  const watched = member as unknown as { joinOnce(): Promise<void> };
  const joinOnce = watched.joinOnce.bind(member);
  let rejoins = false;
  watched.joinOnce = () => {
    rejoins = true;
    return joinOnce();
  };
  return () => rejoins;
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
    const heartbeats = holdHeartbeats(stays.member);
    await until(heartbeats.isHeld);
    const rejoins = watchRejoin(leaves.member);
    const joining = join({ groupId, topic });
    await until(rejoins);
    const leftAt = Date.now();
    await leaves.member.leave();
    heartbeats.release();
    const joins = await joining;
    const shared = (): number[] => [...stays.latest(), ...joins.latest()].sort();
    await until(() => expect(shared()).toEqual([0, 1, 2, 3]));
    expect(Date.now() - leftAt).toBeLessThan(SESSION_TIMEOUT_MS - 1_500);
    expect([...stays.failures, ...leaves.failures, ...joins.failures]).toEqual([]);
    await Promise.all([stays.member.leave(), joins.member.leave()]);
  });
});
