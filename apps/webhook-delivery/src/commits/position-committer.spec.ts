import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CommittedOffset } from '@waypost/streams';
import { silentLogger } from '@waypost/streams';
import { flushed } from '../../../../test/support/until.js';
import { createPositionCommitter, type PositionCommitter } from './position-committer.js';

let monotonicMs: number;
let position: CommittedOffset;
let commits: (readonly [number, string | undefined])[];
let committing: () => Promise<void>;
let committer: PositionCommitter;

beforeEach(() => {
  monotonicMs = 0;
  position = { offset: 5, metadata: '' };
  commits = [];
  committing = () => Promise.resolve();
  committer = createPositionCommitter({
    context: {
      partition: 0,
      commitOffset: (offset, metadata) => {
        commits.push([offset, metadata]);
        return committing();
      },
    },
    position: () => position,
    committed: position,
    monotonicMs: () => monotonicMs,
    logger: silentLogger,
  });
});

async function movedTo(offset: number, atMs: number, metadata = ''): Promise<void> {
  position = { offset, metadata };
  monotonicMs = atMs;
  committer.moved();
  await flushed();
}

describe('the position of a partition', () => {
  it('is committed when it has moved, at most every 200 ms', async () => {
    await movedTo(6, 0);
    await movedTo(7, 199);
    await movedTo(8, 200);
    expect(commits).toEqual([
      [6, ''],
      [8, ''],
    ]);
  });

  it('is not committed again while it and its metadata stay the same', async () => {
    await movedTo(5, 0);
    await movedTo(6, 200);
    await movedTo(6, 400);
    await movedTo(6, 600, 'other');
    expect(commits).toEqual([
      [6, ''],
      [6, 'other'],
    ]);
  });

  it('is committed again after a commit that failed', async () => {
    committing = () => Promise.reject(new Error('a rebalance'));
    await movedTo(6, 0);
    committing = () => Promise.resolve();
    await movedTo(6, 200);
    await movedTo(6, 400);
    expect(commits).toHaveLength(2);
  });

  it('has one commit at a time; stopping waits for it and allows no other', async () => {
    let end: () => void = () => undefined;
    committing = () => new Promise((resolve) => (end = resolve));
    await movedTo(6, 0);
    await movedTo(7, 1_000);
    let isStopped = false;
    const stopped = committer.stop().then(() => (isStopped = true));
    await flushed();
    expect(isStopped).toBe(false);
    end();
    await stopped;
    await movedTo(8, 2_000);
    expect(commits).toEqual([[6, '']]);
  });
});
