import { beforeEach, describe, expect, it } from '@jest/globals';
import { SubscriptionState } from './subscription-state.js';

function at(...numbers: number[]) {
  return numbers.map((partition) => ({ topic: 't', partition }));
}
function share(partitions: number[], awaited: number[] = []) {
  return {
    partitions: at(...partitions),
    awaited: at(...awaited),
  };
}
let held: SubscriptionState;

beforeEach(() => {
  held = new SubscriptionState();
});

describe('what a member holds', () => {
  it('is nothing before the first assignment, in no generation', () => {
    expect(held.claim()).toEqual({ generation: -1, owned: [], revoking: [] });
  });

  it('is claimed on until it is let go, in the generation that it was last assigned in', () => {
    held.accept(3, share([0, 1]));
    const revoked = held.accept(4, share([0], [1]));
    held.accept(5, share([0], [1]));
    expect(held.claim().revoking).toEqual([expect.objectContaining({ partition: 1, generation: 3 })]);
    expect(held.needsRejoin).toBe(false);
    revoked();
    expect(held.claim().revoking).toEqual([]);
    expect(held.needsRejoin).toBe(true);
  });

  it('is not let go by the end of an earlier loss when it came back and was lost again', () => {
    held.accept(1, share([0]));
    const first = held.accept(2, share([], [0]));
    held.accept(3, share([0]));
    const second = held.accept(4, share([], [0]));
    first();
    expect(held.claim().revoking).toEqual([expect.objectContaining({ partition: 0, generation: 3 })]);
    second();
    expect(held.claim().revoking).toEqual([]);
  });

  it('is awaited in vain of one that took the place of another and never had it', () => {
    held.accept(9, share([0], [1]));
    expect(held.needsRejoin).toBe(true);
  });
});
