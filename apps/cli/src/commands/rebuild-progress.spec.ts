import { describe, expect, it } from '@jest/globals';
import { createRebuildPace, describeEnd, describeRebuild, progressOf } from './rebuild-progress.js';

const attempts = { topic: 'webhook.attempts', start: 100, goal: 300 } as const;
const pings = { topic: 'telemetry.pings', start: 0, goal: 0 } as const;

describe('the progress of a rebuild', () => {
  it('counts from the beginning of each log to the end that it had', () => {
    const progress = progressOf([
      { ...attempts, partition: 0, at: 150 },
      { ...attempts, partition: 1, at: null },
      { ...pings, partition: 0, at: null },
    ]);
    expect(progress).toEqual({ done: 50, total: 400, shares: 'webhook.attempts 12 %, telemetry.pings 100 %' });
  });

  it('is done when all partitions are where they have to be, though the log has grown since', () => {
    expect(progressOf([{ ...attempts, partition: 0, at: 900 }])).toMatchObject({ done: 200, total: 200 });
  });

  it('computes speed and time left from recent progress', () => {
    const pace = createRebuildPace();
    expect(pace.note(0, { done: 0, total: 40_000 })).toEqual({ perSecond: 0, leftMs: null });
    expect(pace.note(10_000, { done: 10_000, total: 40_000 })).toEqual({ perSecond: 1_000, leftMs: 30_000 });
    expect(pace.note(20_000, { done: 30_000, total: 40_000 })).toEqual({ perSecond: 2_000, leftMs: 5_000 });
  });

  it('starts over when progress goes back, because another rebuild has begun', () => {
    const pace = createRebuildPace();
    pace.note(0, { done: 9_000, total: 10_000 });
    expect(pace.note(1_000, { done: 0, total: 10_000 })).toEqual({ perSecond: 0, leftMs: null });
  });

  it('is a line that a person can read', () => {
    const progress = { done: 12_345, total: 20_000, shares: 'webhook.attempts 61 %' };
    expect(describeRebuild(progress, { perSecond: 2_000.4, leftMs: 3_827 })).toBe(
      '12,345 of 20,000 records, 2,000/s, about 4 s left (webhook.attempts 61 %)',
    );
    expect(describeRebuild(progress, { perSecond: 1, leftMs: 7_655_000 })).toContain('about 128 min left');
    expect(describeRebuild(progress, { perSecond: 0, leftMs: null })).toContain('records, 0/s (');
  });

  it('ends with what was done: watching does not claim a rebuild', () => {
    const done = { records: 12_345, topics: ['webhook.attempts', 'telemetry.pings'] };
    const logs = '12,345 records of webhook.attempts and telemetry.pings';
    expect(describeEnd({ ...done, watch: true })).toBe(`projected up to the end of the logs: ${logs}`);
    expect(describeEnd({ ...done, watch: false })).toBe(`rebuilt from ${logs}`);
  });
});
