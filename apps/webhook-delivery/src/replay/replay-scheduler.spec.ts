import { describe, expect, it } from '@jest/globals';
import { StreamsError } from '@waypost/streams';
import { flushed } from '../../../../test/support/until.js';
import { Aborted } from '../common/waits.js';
import type { ReplayJob } from './replay-job.js';
import { ReplayScheduler } from './replay-scheduler.js';

/** Replays that end, and check whether they may continue, when the test says so. */
function build(maxRunning: number) {
  const log: string[] = [];
  const failures: Error[] = [];
  let nowMs = 0;
  const scheduler = new ReplayScheduler({
    maxRunning,
    timeSliceMs: 1_000,
    now: () => nowMs,
    onOver: ({ replayId }) => void log.push(`over ${replayId}`),
    onFailure: (error) => void failures.push(error),
  });
  const job = (replayId: string, subscriptionId: string, series = 1, isSelecting = false) => {
    let end: (error?: Error) => void = () => undefined;
    let mayContinue: () => boolean = () => true;
    const made = {
      replayId,
      subscriptionId,
      series,
      isOver: false,
      run: (mayContinueNow: () => boolean): Promise<void> => {
        log.push(`run ${replayId}`);
        mayContinue = mayContinueNow;
        if (!isSelecting) mayContinueNow();
        return new Promise((resolve, reject) => {
          end = (error) => {
            if (error) reject(error);
            else resolve();
          };
        });
      },
    };
    return {
      job: made as unknown as ReplayJob,
      finish: async () => {
        made.isOver = true;
        end();
        await flushed();
      },
      fail: async (error: Error) => {
        end(error);
        await flushed();
      },
      /** It looks, and leaves when it has to. */
      look: async () => {
        if (!mayContinue()) end();
        await flushed();
      },
    };
  };
  return { scheduler, job, log, failures, pass: (ms: number) => (nowMs += ms) };
}

describe('ReplayScheduler', () => {
  it('runs as many subscriptions at a time as it is allowed', async () => {
    const { scheduler, job, log } = build(2);
    const [a, b, c] = [job('a', 'sa'), job('b', 'sb'), job('c', 'sc')];
    for (const one of [a, b, c]) scheduler.add(one.job);
    expect(log).toEqual(['run a', 'run b']);
    await a.finish();
    expect(log).toEqual(['run a', 'run b', 'over a', 'run c']);
  });

  it('alternates after a time slice when others wait, and only then', async () => {
    const { scheduler, job, log, pass } = build(1);
    const [a, b] = [job('a', 'sa'), job('b', 'sb')];
    scheduler.add(a.job);
    pass(5_000);
    await a.look();
    expect(log).toEqual(['run a']);
    scheduler.add(b.job);
    await a.look();
    expect(log).toEqual(['run a', 'run b']);
    await b.look();
    expect(log).toHaveLength(2);
    pass(1_000);
    await b.look();
    expect(log).toEqual(['run a', 'run b', 'run a']);
  });

  it('runs one replay of a subscription at a time, the oldest first', async () => {
    const { scheduler, job, log, pass } = build(8);
    const [second, third, first] = [job('2', 's', 2), job('3', 's', 3), job('1', 's', 1)];
    scheduler.add(second.job);
    scheduler.add(third.job);
    scheduler.add(first.job);
    pass(5_000);
    await second.look();
    expect(log).toEqual(['run 2']);
    await second.finish();
    await first.finish();
    expect(log).toEqual(['run 2', 'over 2', 'run 1', 'over 1', 'run 3']);
  });

  it('runs a replay at once that is cancelled while it waits', () => {
    const { scheduler, job, log } = build(1);
    scheduler.add(job('a', 'sa').job);
    const waiting = job('b', 'sb').job;
    scheduler.add(waiting);
    scheduler.cancelled(waiting);
    scheduler.cancelled(waiting);
    expect(log).toEqual(['run a', 'run b']);
  });

  it('restarts a replay when retention has deleted what it was reading, and reports any other failure', async () => {
    const { scheduler, job, log, failures } = build(1);
    const a = job('a', 'sa');
    scheduler.add(a.job);
    await a.fail(new StreamsError('OFFSET_OUT_OF_RANGE', 'deleted'));
    expect(log).toEqual(['run a', 'run a']);
    await a.fail(new Error('broken'));
    expect(failures.map(({ message }) => message)).toEqual(['broken']);
  });

  it('runs a dropped replay no more, and waits for the time slice it is in', async () => {
    const { scheduler, job, log, pass } = build(1);
    const [a, b, c] = [job('a', 'sa'), job('b', 'sb'), job('c', 'sc')];
    for (const one of [a, b, c]) scheduler.add(one.job);
    await scheduler.drop(b.job);
    let isDropped = false;
    const dropped = scheduler.drop(a.job).then(() => (isDropped = true));
    await flushed();
    expect(isDropped).toBe(false);
    pass(1_000);
    await a.look();
    await dropped;
    await c.finish();
    expect(log).toEqual(['run a', 'run c', 'over c']);
  });

  it('is drained when the running replays have ended', async () => {
    const { scheduler, job, log } = build(2);
    const a = job('a', 'sa');
    scheduler.add(a.job);
    let isDrained = false;
    const drained = scheduler.drained().then(() => (isDrained = true));
    scheduler.add(job('b', 'sb').job);
    await flushed();
    expect(isDrained).toBe(false);
    await a.finish();
    await drained;
    expect(log).toEqual(['run a', 'over a']);
  });

  it('starts nothing after it was stopped', async () => {
    const { scheduler, job, log, failures } = build(1);
    const [a, b] = [job('a', 'sa'), job('b', 'sb')];
    scheduler.add(a.job);
    scheduler.add(b.job);
    const drained = scheduler.drained();
    await a.fail(new Aborted());
    await drained;
    expect([log, failures]).toEqual([['run a'], []]);
  });

  it('gives a replay its slice after the selection, however long that took', async () => {
    const { scheduler, job, log, pass } = build(1);
    const [selecting, other] = [job('a', 'sa', 1, true), job('b', 'sb')];
    scheduler.add(selecting.job);
    scheduler.add(other.job);
    pass(60_000);
    await selecting.look();
    pass(999);
    await selecting.look();
    expect(log).toEqual(['run a']);
    pass(1);
    await selecting.look();
    expect(log).toEqual(['run a', 'run b']);
  });
});
