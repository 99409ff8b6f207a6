import { describe, expect, it } from '@jest/globals';
import type { FleetEvent } from '@waypost/domain';
import { makeChangedSubscribers } from './changed-subscribers.js';
import { knownSettings } from './judge/settings.js';
import { observedRun } from './judge/testing/observed-run.js';
import { isOwed, receiptsInSeries } from './log-reader.js';
import type { Subscriber } from './subscribers.js';

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
    outageReports: [],
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

describe('an event for a subscription that is disabled at some time', () => {
  const options = { port: 20_000, closedPort: 20_001, sealingKey: Buffer.alloc(32, 7), brief: false };
  const subscriber = makeChangedSubscribers(options).find(({ change }) => change?.(0)?.status === 'disabled');
  const { subscription } = subscriber as Subscriber;
  const { id: subscriptionId, fleetId, eventType, url } = subscription;
  const settings = { status: 'active', eventType, deviceIds: null, url, ratePerSecond: null, signers: '0' };
  const versions = [
    { subscriptionId, settings, fromMs: -Infinity, knownMs: -Infinity, settledMs: -Infinity },
    { subscriptionId, settings: { ...settings, status: 'disabled' }, fromMs: 1_000, knownMs: 1_010, settledMs: 2_500 },
  ];
  const event = { fleetId, deviceId: 'device-1', eventType } as FleetEvent;

  function owed(appendedMs: number, fannedOutMs: number, createdMs: number | null): boolean {
    const created = new Map(createdMs === null ? [] : [['event-1', createdMs]]);
    const met = { settings: knownSettings(versions), createdMs: created, appendedMs, fannedOutMs };
    return isOwed(subscriber as Subscriber, event, 'event-1', met);
  }

  it('is owed to it when it was fanned out before that, whether or not it was sent', () => {
    expect([owed(500, 990, null), owed(500, 990, 990)]).toEqual([true, true]);
  });

  it('is not owed to it when the broker had it afterwards', () => {
    expect([owed(1_020, 1_030, null), owed(1_020, 1_030, 1_030)]).toEqual([false, false]);
  });

  it('may be sent or not when it was fanned out after that, and in the log before', () => {
    expect([owed(500, 1_030, null), owed(500, 1_030, 1_030)]).toEqual([false, true]);
  });
});
