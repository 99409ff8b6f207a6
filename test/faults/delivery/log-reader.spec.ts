import { describe, expect, it } from '@jest/globals';
import { observedRun } from './judge/testing/observed-run.js';
import { receiptsInSeries } from './log-reader.js';

describe('the POSTs of an event that was replayed', () => {
  const run = observedRun(['healthy']);
  const [delivery] = run.deliveries;
  const [first] = run.attempts;
  const [receipt] = run.receipts;
  if (delivery === undefined || first === undefined || receipt === undefined) throw new Error('The run is empty.');
  const laterMs = 60_000;
  const again = { eventId: `${delivery.eventId}/1`, series: 1 };
  const logs = {
    expected: [],
    problems: [],
    deliveries: [delivery, { ...delivery, ...again, loggedMs: delivery.loggedMs + laterMs }],
    attempts: [first, { ...first, ...again, startedAt: first.startedAt + laterMs }],
  };
  const idsOf = (...times: number[]): string[] =>
    receiptsInSeries(
      times.map((receivedMs) => ({ ...receipt, receivedMs })),
      logs,
    ).map(({ eventId }) => eventId);

  it('belong to the series that logged an attempt at their time', () => {
    expect(idsOf(receipt.receivedMs, receipt.receivedMs + laterMs)).toEqual(['event-0', 'event-0/1']);
  });

  it('belong to one series each when two of them were sent at the same time', () => {
    const atOnce = { ...logs, attempts: [first, { ...first, ...again }] };
    const receipts = [receipt, receipt, receipt].map((one) => ({ ...one }));
    // The third one repeats either of them.
    expect(receiptsInSeries(receipts, atOnce).map(({ eventId }) => eventId)).toEqual([
      'event-0',
      'event-0/1',
      'event-0',
    ]);
  });

  it('belong to the newest series that was in the log by then when no attempt was logged for them', () => {
    expect(idsOf(receipt.receivedMs + 30_000, receipt.receivedMs + laterMs + 30_000)).toEqual(['event-0', 'event-0/1']);
  });
});
