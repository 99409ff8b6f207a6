import { describe, expect, it } from '@jest/globals';
import type { AppInstance } from '../shared/app-instance.js';
import type { Interruption } from './judge/observations.js';
import { senderAddress, watchedInstance } from './watched-instance.js';

let endReplaced: () => void;

function watched(up = true) {
  const reported: Interruption[] = [];
  const clock = { ms: 1_000 };
  const done = (): Promise<void> => Promise.resolve();
  const bare: AppInstance = {
    instance: 0,
    up,
    isStopping: false,
    start: () => undefined,
    kill: done,
    stop: () => Promise.resolve(0),
    replacePaused: () =>
      new Promise((resolve) => {
        endReplaced = resolve;
      }),
    pause: () => undefined,
    resume: () => undefined,
    stepClock: () => undefined,
    problem: () => Promise.resolve(null),
    pid: () => undefined,
    adminUrl: () => '',
  };
  const watch = {
    sourceNow: () => 'a',
    now: () => clock.ms,
    onInterrupted: (one: Interruption) => void reported.push(one),
  };
  return { instance: watchedInstance(bare, watch), reported, clock };
}

describe('a watched instance', () => {
  it('reports when it was killed', async () => {
    const { instance, reported } = watched();
    await instance.kill();
    expect(reported).toEqual([{ type: 'killed', source: 'a', atMs: 1_000 }]);
  });

  it('reports from when to when it was stopped', () => {
    const { instance, reported, clock } = watched();
    instance.pause();
    clock.ms = 9_000;
    instance.resume();
    expect(reported).toEqual([{ type: 'paused', source: 'a', atMs: 1_000, resumedMs: 9_000 }]);
  });

  it('reports until when a replaced process can have worked', async () => {
    const { instance, reported, clock } = watched();
    const replacing = instance.replacePaused(5_000);
    await new Promise((resolve) => setImmediate(resolve));
    clock.ms = 7_500;
    endReplaced();
    await replacing;
    expect(reported).toEqual([{ type: 'replaced', source: 'a', atMs: 1_000, resumedMs: 6_000, endedMs: 7_500 }]);
  });

  it('excuses nothing when it is asked to end, or was not up', async () => {
    const { instance, reported } = watched();
    await instance.stop();
    const away = watched(false);
    await away.instance.kill();
    away.instance.pause();
    away.instance.resume();
    await away.instance.replacePaused(5_000);
    expect([...reported, ...away.reported]).toEqual([]);
  });
});

describe('the address of a process', () => {
  it('is another for every start of every instance, and on the loopback interface', () => {
    const numbers = Array.from({ length: 600 }, (_, start) => start);
    const addresses = [0, 1, 2].flatMap((instance) => numbers.map((start) => senderAddress(instance, start)));
    expect(new Set(addresses).size).toBe(1_800);
    for (const address of addresses) expect(address).toMatch(/^127\.2[0-2]\.[0-2]\.(\d{1,2}|1\d\d|2[0-4]\d|250)$/);
  });
});
