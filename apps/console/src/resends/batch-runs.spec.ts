import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keepRun, type Run, runOf } from './batch-runs.js';

/** Node has no window that could be closed. */
const listeners = new Set<unknown>();
const page = globalThis as unknown as Record<string, unknown>;

beforeEach(() => {
  page['addEventListener'] = (_: string, listener: unknown) => listeners.add(listener);
  page['removeEventListener'] = (_: string, listener: unknown) => listeners.delete(listener);
});

afterEach(() => {
  delete page['addEventListener'];
  delete page['removeEventListener'];
});

function run() {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  const started: Run = { done, stop: () => Promise.reject(new Error('Nothing stops it here.')) };
  return { started, end: () => end() };
}

describe('the run of a resend', () => {
  it('is known, and keeps the tab open, until it has ended', async () => {
    const { started, end } = run();
    const kept = keepRun('a', started);
    expect([runOf('a'), listeners.size]).toEqual([started, 1]);
    end();
    await kept;
    expect([runOf('a'), listeners.size]).toEqual([undefined, 0]);
  });

  it('stays known when an earlier one of its batch, which a sign-out had stopped, ends after it began', async () => {
    const [earlier, later] = [run(), run()];
    const ended = keepRun('a', earlier.started);
    const kept = keepRun('a', later.started);
    earlier.end();
    await ended;
    expect([runOf('a'), listeners.size]).toEqual([later.started, 1]);
    later.end();
    await kept;
    expect(runOf('a')).toBeUndefined();
  });
});
