import { beforeEach, describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import { BEGAN_AT, type ObservedRun, observedRun, pause, SENDER } from './testing/observed-run.js';

let run: ObservedRun;

/** The kinds of what is wrong, without examples. */
function kinds(): string[] {
  return judgeDeliveries(run).problems.map((line) => line.replace(/ \(\d+\): .*/, ''));
}

describe('the judge of thirty deliveries of one subscription', () => {
  beforeEach(() => {
    run = observedRun(Array.from({ length: 30 }, () => 'first-503' as const));
    const subscriptionId = 'subscription-0';
    const url = 'http://127.0.0.1:1/hook';
    run.expected = run.expected.map((item) => ({ ...item, subscriptionId, url, path: '/hook' }));
    run.deliveries = run.deliveries.map((item) => ({ ...item, subscriptionId }));
    run.attempts = run.attempts.map((item) => ({ ...item, subscriptionId, url }));
    run.receipts = run.receipts.map((item) => ({ ...item, path: '/hook' }));
  });

  it('finds an order that is not that of the events, in the fan-out and in the first attempts', () => {
    expect(kinds()).toEqual([]);
    run.expected = run.expected.toReversed();
    expect(kinds()).toEqual([
      'deliveries in another order than their events',
      'first attempts in another order than their events',
    ]);
  });

  it('knows that a first attempt is made again, later, when its process fell, also if that began before its record', () => {
    const { eventId } = run.expected[0] ?? { eventId: '' };
    const loggedMs = run.deliveries.find((item) => item.eventId === eventId)?.loggedMs ?? NaN;
    run.attempts = run.attempts.map((item) =>
      item.eventId === eventId && item.attempt === 1 ? { ...item, startedAt: item.startedAt + 5_000 } : item,
    );
    const isInOrder = (): boolean => !kinds().includes('first attempts in another order than their events');
    expect(isInOrder()).toBe(false);
    const fallen = { type: 'replaced', source: SENDER, atMs: loggedMs - 5_000, resumedMs: loggedMs - 3_000 } as const;
    run.interruptions = [{ ...fallen, endedMs: loggedMs - 10 }];
    expect(isInOrder()).toBe(false);
    run.interruptions = [{ ...fallen, endedMs: loggedMs + 10 }];
    expect(isInOrder()).toBe(true);
  });

  it('knows that events are fanned out again after a fall, by settings that may have changed', () => {
    run.expected = run.expected.toReversed();
    const [last] = run.deliveries.toReversed();
    const loggedMs = last?.loggedMs ?? NaN;
    run.interruptions = [{ type: 'cut-off', source: SENDER, atMs: BEGAN_AT, resumedMs: loggedMs, endedMs: loggedMs }];
    const order = (): string[] => kinds().filter((kind) => kind.includes('in another order'));
    expect(order()).toContain('deliveries in another order than their events');
    run.versions = pause(run, {
      subscriptionId: 'subscription-0',
      fromMs: loggedMs + 60_000,
      untilMs: loggedMs + 70_000,
    });
    expect(order()).toEqual([]);
    run.interruptions = [];
    expect(order()).toContain('deliveries in another order than their events');
  });

  it('finds a delivery that did not wait for the one before, in spite of strict order, and a rate that was not kept', () => {
    run.expected = run.expected.map((item) => ({ ...item, strictOrder: true, ratePerSecond: 1 }));
    expect(kinds()).toEqual(['start before an earlier delivery of the device was over, in spite of strict order']);
    run.expected = run.expected.map((item) => ({ ...item, strictOrder: false, ratePerSecond: 0.5 }));
    expect(kinds()).toEqual(['starts beyond the rate limit']);
  });

  it('finds a few retries that are very late', () => {
    const punctual = run.attempts;
    const startLate = (count: number): string[] => {
      const ids = new Set(run.expected.slice(0, count).map(({ eventId }) => eventId));
      const isLate = (item: (typeof punctual)[0]): boolean => item.attempt === 2 && ids.has(item.eventId);
      run.attempts = punctual.map((item) => (isLate(item) ? { ...item, startedAt: item.startedAt + 2_600 } : item));
      run.receipts = [];
      return kinds().filter((kind) => kind.startsWith('late'));
    };
    expect(startLate(2)).toEqual([]);
    expect(startLate(3)).toEqual(['late starts while no process was disturbed']);
  });

  it('finds starts that wait for longer than their rate limit asks for, and after a pause', () => {
    const begin = (startsAt: (index: number) => number): string[] => {
      const order = run.expected.map(({ eventId }) => eventId);
      run.deliveries = run.deliveries.map((item) => ({ ...item, loggedMs: BEGAN_AT }));
      run.attempts = run.attempts.map((item) => {
        const startedAt = startsAt(order.indexOf(item.eventId));
        return item.attempt === 1 ? { ...item, startedAt, dueAt: startedAt } : item;
      });
      run.receipts = [];
      return kinds().filter((kind) => /rate limit|after a pause/.test(kind));
    };
    run.expected = run.expected.map((item) => ({ ...item, ratePerSecond: 10 }));
    expect(begin((index) => BEGAN_AT + index * 165)).toEqual([]);
    expect(begin((index) => BEGAN_AT + index * 175)).toEqual(['starts far below their rate limit']);
    run.expected = run.expected.map((item) => ({ ...item, ratePerSecond: null }));
    const untilMs = BEGAN_AT + 2_000;
    run.versions = pause(run, { subscriptionId: 'subscription-0', fromMs: BEGAN_AT - 2_000, untilMs });
    expect(begin(() => untilMs + 990)).toEqual([]);
    expect(begin(() => untilMs + 1_010)).toEqual(['late starts after a pause']);
    run.interruptions = [{ type: 'killed', source: SENDER, atMs: untilMs + 500 }];
    expect(kinds().filter((kind) => kind.includes('after a pause'))).toEqual([]);
  });

  it('finds retries that are late, but for what was disturbed', () => {
    const late = ({ attempt }: { readonly attempt: number }, byMs: number): number => (attempt > 1 ? byMs : 0);
    const punctual = run.attempts;
    const startLate = (byMs: number): void => {
      run.attempts = punctual.map((item) => ({ ...item, startedAt: item.startedAt + late(item, byMs) }));
      run.receipts = [];
    };
    const lateKinds = (): string[] => kinds().filter((kind) => kind.startsWith('late'));
    expect(Object.keys(judgeDeliveries(run).judgedStarts)).toContain('attempt 2');
    startLate(160);
    expect(lateKinds()).toEqual(['late starts while no process was disturbed']);
    run.interruptions.push({ type: 'paused', source: SENDER, atMs: BEGAN_AT, resumedMs: BEGAN_AT + 40_000 });
    expect(lateKinds()).toEqual([]);
    expect(judgeDeliveries(run).judgedStarts).toEqual({});
    startLate(5_000);
    expect(lateKinds()).toEqual(['late starts']);
  });
});
