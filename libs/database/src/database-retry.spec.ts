import { describe, expect, it } from '@jest/globals';
import { DatabaseRetry } from './database-retry.js';

function away(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

function build() {
  const events: string[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  const stop = new AbortController();
  const log = (event: string, fields?: Record<string, unknown>): void => {
    const awayMs = fields?.['awayMs'];
    events.push(typeof awayMs === 'number' ? `${event} ${String(awayMs)}` : event);
  };
  const retry = new DatabaseRetry({
    logger: { info: log, warn: log },
    monotonicMs: () => nowMs,
    wait: (ms) => {
      waits.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
    onChange: (available) => void events.push(available ? 'available' : 'not available'),
  });
  /** Work that finds the database away so many times. */
  const failing = (times: number) => {
    let tries = 0;
    return () => (++tries > times ? Promise.resolve('done') : Promise.reject(away()));
  };
  return { retry, events, waits, stop, failing };
}

describe('the database retry', () => {
  it('returns the result and logs nothing while the database is available', async () => {
    const { retry, events, waits, stop, failing } = build();
    expect(await retry.run(failing(0), stop.signal)).toBe('done');
    expect([events, waits]).toEqual([[], []]);
  });

  it('waits twice as long each time, up to 5 s, and says once that the database was away and is back', async () => {
    const { retry, events, waits, stop, failing } = build();
    expect(await retry.run(failing(8), stop.signal)).toBe('done');

    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(events).toEqual(['database_away', 'not available', 'database_back 16300', 'available']);
    expect(retry.available()).toBe(true);
  });

  it('waits for locked rows without reporting the database as unavailable', async () => {
    const { retry, events, waits, stop } = build();
    let tries = 0;
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    expect(await retry.run(() => (++tries > 2 ? Promise.resolve('done') : Promise.reject(locked)), stop.signal)).toBe(
      'done',
    );
    expect(waits).toEqual([100, 200]);
    expect(events).toEqual(['database_rows_locked', 'database_rows_locked']);
    expect(retry.available()).toBe(true);
  });

  it('tells an outage once for all the work that waits', async () => {
    const { retry, events, stop, failing } = build();
    await Promise.all([retry.run(failing(2), stop.signal), retry.run(failing(2), stop.signal)]);
    expect(events.filter((event) => event === 'database_away')).toHaveLength(1);
    expect(events.filter((event) => event.startsWith('database_back'))).toHaveLength(1);
  });

  it('throws errors unrelated to the connection at once', async () => {
    const { retry, events, stop } = build();
    const bug = Object.assign(new Error('relation does not exist'), { code: '42P01' });
    await expect(retry.run(() => Promise.reject(bug), stop.signal)).rejects.toBe(bug);
    expect(events).toEqual([]);
  });

  it('stops waiting when it is aborted, however long the database is unavailable', async () => {
    const { retry, stop, waits } = build();
    const work = (): Promise<never> => {
      if (waits.length === 3) stop.abort();
      return Promise.reject(away());
    };
    await expect(retry.run(work, stop.signal)).rejects.toThrow('ECONNREFUSED');
    expect(waits).toHaveLength(4);
    expect(retry.available()).toBe(false);
  });
});
