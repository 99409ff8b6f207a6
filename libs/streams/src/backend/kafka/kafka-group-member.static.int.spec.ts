import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { groupMembers, SESSION_TIMEOUT_MS } from '../testing/group-members.js';

const { createTopic, join } = groupMembers('static-membership');

function never(): Promise<void> {
  return new Promise(() => undefined);
}
describe('a static member that is replaced while it releases its partitions', () => {
  it('leaves no partition unassigned: its successor, which holds none of them, requests another rebalance', async () => {
    const [topic, groupId] = [`static-${randomUUID()}`, `static-${randomUUID()}`];
    await createTopic(topic);
    const stuck = await join({ groupId, topic, instanceId: 'one', revoked: never });
    const other = await join({ groupId, topic, instanceId: 'two' });
    await until(() => stuck.latest().length === 2);
    expect(other.latest()).toEqual([]);

    const replacedAt = Date.now();
    const successor = await join({ groupId, topic, instanceId: 'one' });
    await until(() => other.latest().length === 2);

    expect([...successor.latest(), ...other.latest()].sort()).toEqual([0, 1, 2, 3]);
    expect(Date.now() - replacedAt).toBeLessThan(SESSION_TIMEOUT_MS); // no session had to run out
    await until(() => stuck.failures.length > 0);
    await Promise.all([stuck.member.leave(), successor.member.leave(), other.member.leave()]);
  }, 30_000);
});
