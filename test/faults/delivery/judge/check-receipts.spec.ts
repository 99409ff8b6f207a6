import { describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import { change, observedRun, one, pause, receivedAt, SENDER } from './testing/observed-run.js';

describe('a POST whose process fell before its result was in the log', () => {
  it('is due by the attempt before it, when a pause has moved the logged time since', () => {
    const run = observedRun(['first-503']);
    const second = (item: { readonly attempt?: number }): boolean => item.attempt === 2;
    const kinds = (): string[] => judgeDeliveries(run).problems.map((line) => line.replace(/ \(\d+\): .*/, ''));
    const { dueAt, subscriptionId } = one(run.attempts, second);
    const receipt = one(run.receipts, second);
    const movedTo = dueAt + 8_000;
    change(run.attempts, second, { dueAt: movedTo, startedAt: movedTo });
    const [first, repeated] = [
      one(run.receipts, (item) => item.attempt === 1),
      { ...receipt, ...receivedAt(movedTo + 1) },
    ];
    run.interruptions = [{ type: 'killed', source: SENDER, atMs: dueAt + 20 }];
    run.versions = pause(run, { subscriptionId, fromMs: dueAt + 500, untilMs: movedTo - 10 });

    run.receipts = [first, { ...receipt, ...receivedAt(dueAt + 2) }, repeated];
    expect(kinds()).toEqual([]);
    run.receipts = [first, { ...receipt, ...receivedAt(dueAt - 20) }, repeated];
    expect(kinds()).toEqual(['POST before it was due']);
  });
});
