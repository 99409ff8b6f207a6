import { describe, expect, it } from '@jest/globals';
import { OwnershipLost, PartitionOwnership } from './partition-ownership.js';

const PARTITION = { topic: 'input', partition: 0 };
const POSITION = { offset: 5, metadata: '' };

/** A group in whose current generation alone anything is accepted. */
function groupIn(current: { generation: number }) {
  const commits: (number | undefined)[] = [];
  return {
    commits,
    confirm: (generation: number) => Promise.resolve(generation === current.generation),
    commit: (_partition: object, _offset: object, generation?: number) => {
      commits.push(generation);
      return Promise.resolve(generation === undefined || generation === current.generation);
    },
  };
}

describe('the owner of a partition', () => {
  it('waits for the confirmation of a later generation in which the partition is still its own', async () => {
    const ownership = new PartitionOwnership(groupIn({ generation: 2 }), 1, new AbortController().signal);
    const confirming = ownership.confirm();
    ownership.keep(2);
    await confirming;
  });

  it('hears that the partition was revoked while it waits', async () => {
    const closing = new AbortController();
    const ownership = new PartitionOwnership(groupIn({ generation: 2 }), 1, closing.signal);
    const confirming = ownership.confirm();
    closing.abort(new OwnershipLost());
    await expect(confirming).rejects.toBeInstanceOf(OwnershipLost);
  });

  it('commits as the confirmed one in the generation of the confirmation only, even if the partition was kept', async () => {
    const current = { generation: 1 };
    const group = groupIn(current);
    const ownership = new PartitionOwnership(group, 1, new AbortController().signal);
    await ownership.confirm();
    await ownership.commit(PARTITION, POSITION, 'confirmed');
    current.generation = 2;
    ownership.keep(2);
    const late = ownership.commit(PARTITION, POSITION, 'confirmed');
    await expect(late).rejects.toThrow('input-0 may belong to another member');
    await ownership.commit(PARTITION, POSITION, 'owner');
    expect(group.commits).toEqual([1, 1, undefined]);
  });

  it('is confirmed in the generation that it has asked for, also if it is kept in another one meanwhile', async () => {
    const group = groupIn({ generation: 1 });
    let confirmed: (isConfirmed: boolean) => void = () => undefined;
    const confirm = () => new Promise<boolean>((resolve) => (confirmed = resolve));
    const ownership = new PartitionOwnership({ ...group, confirm }, 1, new AbortController().signal);
    const confirming = ownership.confirm();
    ownership.keep(2);
    confirmed(true);
    await confirming;
    await ownership.commit(PARTITION, POSITION, 'confirmed');
    expect(group.commits).toEqual([1]);
  });

  it('cannot commit as the confirmed one before there was a confirmation', async () => {
    const ownership = new PartitionOwnership(groupIn({ generation: 1 }), 1, new AbortController().signal);
    await expect(ownership.commit(PARTITION, POSITION, 'confirmed')).rejects.toThrow('new generation');
  });
});
