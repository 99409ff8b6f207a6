import { describe, expect, it } from '@jest/globals';
import { StreamsError } from '@waypost/streams';
import { flushed } from '../../../../test/support/until.js';
import { Aborted } from '../process/waits.js';
import type { ReplayJob, ReplayTurn } from './replay-job.js';
import { ReplayScheduler } from './replay-scheduler.js';

/** Replays that end, and check whether they may continue, when the test says so. */
function build(maxRunning: number) {
  const log: string[] = [];
  const failures: Error[] = [];
  let nowMs = 0;
  const checks: (() => void)[] = [];
  const scheduler = new ReplayScheduler({
    maxRunning,
    timeSliceMs: 1_000,
    monotonicMs: () => nowMs,
    timers: { after: (_delayMs, run) => (checks.push(run), () => checks.splice(checks.indexOf(run), 1)) },
    onOver: ({ replayId }) => void log.push(`over ${replayId}`),
    onFailure: (error) => void failures.push(error),
  });
  const job = (
    replayId: string,
    subscriptionId: string,
    {
      series = 1,
      fleetId = 'f',
      isPreparing = false,
    }: { series?: number; fleetId?: string; isPreparing?: boolean } = {},
  ) => {
    let end: (error?: Error) => void = () => undefined;
    let turn: ReplayTurn = { mayContinue: () => true, mayWait: () => true };
    const made = {
      replayId,
      fleetId,
      subscriptionId,
      series,
      isOver: false,
      hasToWait: false,
      canGoOn: () => !made.hasToWait,
      run: (given: ReplayTurn): Promise<void> => {
        log.push(`run ${replayId}`);
        turn = given;
        if (!isPreparing) turn.mayContinue();
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
      /** The job checks, and leaves when it has to. */
      look: async () => {
        if (!turn.mayContinue()) end();
        await flushed();
      },
      /** The job has to wait from now on, and leaves unless it may wait in its place. */
      wait: async () => {
        made.hasToWait = true;
        if (!turn.mayWait()) end();
        await flushed();
      },
      canGoOnAgain: () => {
        made.hasToWait = false;
      },
    };
  };
  const check = () => {
    for (const run of checks.splice(0)) run();
  };
  return { scheduler, job, log, failures, check, pass: (ms: number) => (nowMs += ms) };
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
    const [second, third, first] = [job('2', 's', { series: 2 }), job('3', 's', { series: 3 }), job('1', 's')];
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

  it('gives a replay its slice from where it can make progress, however long the preparation took', async () => {
    const { scheduler, job, log, pass } = build(1);
    const [preparing, other] = [job('a', 'sa', { isPreparing: true }), job('b', 'sb')];
    scheduler.add(preparing.job);
    scheduler.add(other.job);
    pass(60_000);
    await preparing.look();
    pass(999);
    await preparing.look();
    expect(log).toEqual(['run a']);
    pass(1);
    await preparing.look();
    expect(log).toEqual(['run a', 'run b']);
  });

  it('makes the single replay of a fleet wait for one slice at most, however many another fleet has (R-26)', async () => {
    const { scheduler, job, log, pass } = build(8);
    const many = Array.from({ length: 200 }, (_, n) => job(`a${String(n)}`, `sa${String(n)}`, { fleetId: 'large' }));
    for (const one of many) scheduler.add(one.job);
    const single = job('b', 'sb', { fleetId: 'small' });
    scheduler.add(single.job);
    pass(1_000);
    for (const one of many.slice(0, 8)) await one.look();
    expect(log.slice(8)).toContain('run b');

    const before = log.length;
    pass(60_000);
    await single.look();
    // The job keeps its place: the other fleet has the seven others.
    expect(log.slice(before)).toEqual([]);
  });

  it('gives fleets the same number of places, in rotation where there are fewer than fleets (R-26)', async () => {
    const { scheduler, job, log, pass } = build(1);
    const jobs = ['a1', 'a2', 'a3', 'b1', 'c1'].map((id) => job(id, id, { fleetId: id.slice(0, 1) }));
    for (const one of jobs) scheduler.add(one.job);
    for (let slices = 1; slices < 7; slices++) {
      pass(1_000);
      for (const one of jobs) if (log.at(-1) === `run ${one.job.replayId}`) await one.look();
    }
    expect(log.map((line) => line.replace('run ', ''))).toEqual(['a1', 'b1', 'c1', 'a2', 'b1', 'c1', 'a3']);
  });

  it('takes the place of a replay that can only wait at once, and gives it one again when it can go on', async () => {
    const { scheduler, job, log, check } = build(1);
    const [paused, other] = [job('a', 'sa'), job('b', 'sb')];
    scheduler.add(paused.job);
    await paused.wait();
    // There is no use for its place.
    expect(log).toEqual(['run a']);
    scheduler.add(other.job);
    await paused.wait();
    expect(log).toEqual(['run a', 'run b']);
    await other.finish();
    check();
    expect(log).toEqual(['run a', 'run b', 'over b']);
    paused.canGoOnAgain();
    check();
    expect(log).toEqual(['run a', 'run b', 'over b', 'run a']);
  });

  it('looks no more for replays that can go on once it was stopped', async () => {
    const { scheduler, job, log, check } = build(2);
    const paused = job('a', 'sa');
    await paused.wait();
    scheduler.add(paused.job);
    await scheduler.drained();
    paused.canGoOnAgain();
    check();
    expect(log).toEqual([]);
  });
});
