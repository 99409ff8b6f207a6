import { describe, expect, it } from '@jest/globals';
import { flushed } from '../../../../test/support/until.js';
import type { Every } from './every.js';
import { StalledSessionsJob } from './stalled-sessions.job.js';

function build(endStalled: () => Promise<number>) {
  const events: string[] = [];
  const asked: number[] = [];
  const intervals: number[] = [];
  let tick: () => void = () => undefined;
  const ask = (stalledForMs: number): Promise<number> => {
    asked.push(stalledForMs);
    return endStalled();
  };
  const every: Every = (ms, call) => {
    intervals.push(ms);
    tick = call;
    return () => void events.push('cancelled');
  };
  const job = new StalledSessionsJob(ask, { warn: (event) => void events.push(event) }, every);
  return { job, events, asked, intervals, turn: () => tick() };
}

describe('the stalled sessions job', () => {
  it('ends sessions that have waited for half a minute, looking every ten seconds, and logs only if there were any', async () => {
    const found = [0, 2];
    const { job, events, asked, intervals, turn } = build(() => Promise.resolve(found.shift() ?? 0));
    job.onApplicationBootstrap();
    expect(intervals).toEqual([10_000]);
    turn();
    await flushed();
    expect(events).toEqual([]);
    turn();
    await flushed();
    expect(asked).toEqual([30_000, 30_000]);
    expect(events).toEqual(['stalled_sessions_ended']);
  });

  it('is quiet about an unavailable database, reports other failures, and continues after both', async () => {
    const failures = [Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), new Error('permission denied')];
    const { job, events, asked, turn } = build(() => Promise.reject(failures.shift() ?? new Error('again')));
    job.onApplicationBootstrap();
    for (let turns = 0; turns < 3; turns++) {
      turn();
      await flushed();
    }
    expect(asked).toHaveLength(3);
    expect(events).toEqual(['stalled_sessions_unknown', 'stalled_sessions_unknown']);
  });

  it('runs one check at a time, and has ended the last one when it is stopped', async () => {
    let finish: (ended: number) => void = () => undefined;
    const { job, events, asked, turn } = build(() => new Promise((resolve) => (finish = resolve)));
    job.onApplicationBootstrap();
    turn();
    turn();
    const stopped = job.onModuleDestroy();
    finish(1);
    await stopped;
    expect(asked).toHaveLength(1);
    expect(events).toEqual(['cancelled', 'stalled_sessions_ended']);
  });
});
