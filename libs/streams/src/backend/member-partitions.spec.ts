import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemberPartitions } from './member-partitions.js';

function at(...numbers: number[]) {
  return numbers.map((partition) => ({ topic: 't', partition }));
}
function share(partitions: number[], awaited: number[] = []) {
  return { partitions: at(...partitions), awaited: at(...awaited) };
}
let held: MemberPartitions;

beforeEach(() => {
  held = new MemberPartitions();
});

describe('what a member holds', () => {
  it('is nothing before the first assignment, in no generation', () => {
    expect(held.claim()).toEqual({ generation: -1, owned: [], revoking: [] });
  });

  it('is claimed until it is released, in the generation that it was last assigned in', () => {
    held.accept(3, share([0, 1]));
    const revoked = held.accept(4, share([0], [1]));
    held.accept(5, share([0], [1]));
    expect(held.claim().revoking).toEqual([expect.objectContaining({ partition: 1, generation: 3 })]);
    expect(held.needsRejoin).toBe(false);
    revoked();
    expect(held.claim().revoking).toEqual([]);
    expect(held.needsRejoin).toBe(true);
  });

  it('is not released by the end of an earlier revocation when it came back and was revoked again', () => {
    held.accept(1, share([0]));
    const first = held.accept(2, share([], [0]));
    held.accept(3, share([0]));
    const second = held.accept(4, share([], [0]));
    first();
    expect(held.claim().revoking).toEqual([expect.objectContaining({ partition: 0, generation: 3 })]);
    second();
    expect(held.claim().revoking).toEqual([]);
  });

  it('needs another rebalance when the group awaits a revocation from a member that never had the partition', () => {
    held.accept(9, share([0], [1]));
    expect(held.needsRejoin).toBe(true);
  });
});
