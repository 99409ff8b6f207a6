import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settleOrAbort, waitOrAbort } from './abort.js';

const reason = new Error('enough');

function never(): Promise<string> {
  return new Promise(() => undefined);
}

function listeners({ signal }: AbortController): number {
  return getEventListeners(signal, 'abort').length;
}

let controller: AbortController;

beforeEach(() => {
  jest.useFakeTimers();
  controller = new AbortController();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('waitOrAbort', () => {
  it('waits for the whole time when nothing aborts it, and then keeps no listener', async () => {
    let hasEnded = false;
    void waitOrAbort(5_000, controller.signal).then(() => (hasEnded = true));

    await jest.advanceTimersByTimeAsync(4_999);
    expect(hasEnded).toBe(false);

    await jest.advanceTimersByTimeAsync(1);
    expect(hasEnded).toBe(true);
    expect(listeners(controller)).toBe(0);
  });

  it('resolves at once when the signal is aborted before or during the wait', async () => {
    const waiting = waitOrAbort(5_000, controller.signal);
    controller.abort(reason);

    await waiting;
    await waitOrAbort(5_000, controller.signal);

    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('settleOrAbort', () => {
  it('settles as the work does, and then keeps no listener', async () => {
    expect(await settleOrAbort(Promise.resolve('done'), controller.signal)).toBe('done');
    await expect(settleOrAbort(Promise.reject(new Error('broken')), controller.signal)).rejects.toThrow('broken');

    expect(listeners(controller)).toBe(0);
  });

  it('rejects with the reason when the signal is aborted before or during the work', async () => {
    const waiting = settleOrAbort(never(), controller.signal);
    controller.abort(reason);

    await expect(waiting).rejects.toBe(reason);
    await expect(settleOrAbort(never(), controller.signal)).rejects.toBe(reason);
  });

  it('rejects even finished work when the signal was aborted before', async () => {
    controller.abort(reason);

    await expect(settleOrAbort(Promise.resolve('done'), controller.signal)).rejects.toBe(reason);
  });

  it('lets work finish within the grace period', async () => {
    const work = settleOrAbort(new Promise((resolve) => setTimeout(resolve, 20, 'in time')), controller.signal, 2_000);
    controller.abort(reason);

    await jest.advanceTimersByTimeAsync(20);

    expect(await work).toBe('in time');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects work that outlasts the grace period', async () => {
    const work = settleOrAbort(never(), controller.signal, 2_000);
    const outcome = expect(work).rejects.toBe(reason);
    controller.abort(reason);

    await jest.advanceTimersByTimeAsync(2_000);

    await outcome;
  });
});
