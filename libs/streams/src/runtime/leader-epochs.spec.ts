import { describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { silentLogger } from '../logger.js';
import { LeaderEpochs } from './leader-epochs.js';
import type { TaskManager } from './task-manager.js';
import { CountingApps, createCounting, INPUT, untilParked } from './testing/counting-app.js';

const apps = new CountingApps();

/** Processes a, b and c, then replaces the last two by d to f, as after an unclean election. */
function lose(): void {
  apps.broker.loseFrom(INPUT, 1);
  apps.append('d', 'e', 'f');
}

describe('a log that loses processed records to an unclean election (R-45)', () => {
  async function processed(): Promise<TaskManager> {
    apps.append('a', 'b', 'c');
    const app = await apps.start();
    await apps.untilOutputs('a1', 'b2', 'c3');
    return app;
  }

  async function parkedAtStart(): Promise<TaskManager> {
    await (await processed()).stop();
    lose();
    const app = await apps.start();
    await untilParked(app);
    return app;
  }

  it('parks the partition at its next start, with what to do, instead of skipping what came in their place', async () => {
    const app = await parkedAtStart();
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'LOG_TRUNCATED',
      offset: null,
      message: expect.stringMatching(/input-0 has lost .* the offsets 1 to 2.*Seek to 1 /su),
    });
    expect(await apps.outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it('parks a partition that is being read', async () => {
    const app = await processed();
    const asked = jest.spyOn(apps.broker, 'epochEnd');
    lose();
    apps.append('g');
    await untilParked(app);
    expect(app.tasks()[0]?.parked?.code).toBe('LOG_TRUNCATED');
    // A leader from before the records that were read is not one.
    expect(asked.mock.calls[0]).toEqual([INPUT, 0, 1]);
    expect(await apps.outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it('parks a partition that is being read, and whose log is shorter than what was read, for the same reason', async () => {
    const app = await processed();
    apps.broker.loseFrom(INPUT, 1);
    await untilParked(app);
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'LOG_TRUNCATED',
      message: expect.stringContaining('Seek to 1 '),
    });
  });

  it('leaves a position outside of the log to the broker where it does not know of which leader it is', async () => {
    await apps.broker.group({ groupId: 'counting', topics: [] }).commit(INPUT, { offset: 9, metadata: '' }, -1);
    const app = await apps.start();
    await untilParked(app);
    // A retry could find that the log has grown past the position.
    expect(app.tasks()[0]?.parked).toMatchObject({ code: 'OFFSET_OUT_OF_RANGE', nextRetryAt: null });
  });

  it('is not moved back by a skip: where its log has become shorter, all of it would be processed again', async () => {
    apps.append('a', 'b');
    await apps.broker.group({ groupId: 'counting', topics: [] }).commit(INPUT, { offset: 9, metadata: '' }, -1);
    const commits: number[] = [];
    const open = apps.broker.group.bind(apps.broker);
    jest.spyOn(apps.broker, 'group').mockImplementation((options) => {
      const member = open(options);
      const commit = member.commit.bind(member);
      member.commit = async (partition, committed, generation) => {
        commits.push(committed.offset);
        return commit(partition, committed, generation);
      };
      return member;
    });
    const app = await apps.start();
    await untilParked(app);
    commits.length = 0;
    expect(app.command(INPUT, 'skip')).toBeNull();
    await until(() => commits.length > 0);
    expect(new Set(commits)).toEqual(new Set([9]));
  });

  it.each([
    ['what was lost', 1, ['d4', 'e5', 'f6', 'g7']],
    ['the end of the log', 'latest', ['g4']],
  ] as const)('goes on with its state from %s on command, and is not parked again', async (_where, seek, more) => {
    const app = await parkedAtStart();
    expect(app.command(INPUT, { seek })).toBeNull();
    await until(() => app.tasks()[0]?.state === 'running');
    apps.append('g');
    await apps.untilOutputs('a1', 'b2', 'c3', ...more);
    await app.stop();
    await apps.start();
    apps.append('h');
    await apps.untilOutputs('a1', 'b2', 'c3', ...more, `h${String(3 + more.length + 1)}`);
  });

  it('goes on by itself where only records are lost that it had not processed', async () => {
    apps.append('a');
    const app = await apps.start();
    await apps.untilOutputs('a1');
    await app.stop();
    apps.append('b', 'c');
    lose();
    await apps.start();
    await apps.untilOutputs('a1', 'd2', 'e3', 'f4');
  });

  it('goes on by itself, with what is left, where only records are lost that it has processed and not committed', async () => {
    const errors: string[] = [];
    // Both change nothing, and so are not committed at once.
    const lossy = createCounting((value) => {
      if (value !== 'lost') return value === 'quiet';
      apps.broker.loseFrom(INPUT, 2);
      apps.append('d', 'e');
      return true;
    });
    apps.append('a');
    // Without output it never becomes time for a commit.
    await apps.start(lossy, { logger: { ...silentLogger, error: (event) => void errors.push(event) }, now: () => 0 });
    await apps.untilOutputs('a1');
    apps.append('quiet', 'lost');
    await apps.untilOutputs('a1', 'd2', 'e3');
    expect(errors).toEqual([]);
  });
});

describe('the epoch of a position', () => {
  it('is unknown again after a batch without one: an earlier epoch ended before what has been read since', async () => {
    const epochs = new LeaderEpochs({ epochEnd: () => Promise.resolve(5) }, 0);
    const batch = { ...INPUT, records: [], nextOffset: 9, highWatermark: 9, lastStableOffset: 9 };
    await epochs.advance({ ...batch, leaderEpoch: 3 }, 5);
    expect(epochs.entries(INPUT.topic)).toEqual(['epoch=3']);
    await epochs.advance(batch, 5);
    expect(epochs.entries(INPUT.topic)).toEqual([]);
  });
});
