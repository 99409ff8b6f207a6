import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../../test/support/samples.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookReplay } from '../records/webhook-replay.js';
import { isReplayed, isReplayOver, replayedDelivery, replayStatusOf } from './replay.js';

const replay: WebhookReplay = {
  replayId: 'replay-1',
  subscriptionId: 'subscription-1',
  fleetId: 'fleet-1',
  series: 3,
  startDate: NOON,
  endDate: NOON + 1_000,
  status: null,
  eventType: null,
  deviceId: null,
  eventId: null,
  ratePerSecond: 100,
  cancelled: false,
  version: 1,
  createdAt: NOON,
  updatedAt: NOON,
};
const attempt = {
  eventId: 'event-1',
  subscriptionId: 'subscription-1',
  series: 0,
  firstAttemptAt: NOON,
  eventType: 'position',
  deviceId: 'device-1',
  outcome: 'delivered',
};

describe('what a replay selects (R-30)', () => {
  it.each([
    ['delivered', 'delivered'],
    ['failed', 'failed'],
    ['retrying', 'pending'],
  ])('an attempt that is %s says that its delivery stands %s', (outcome, status) => {
    expect(replayStatusOf(replay, { ...attempt, outcome })).toBe(status);
  });

  it.each([
    ['from the start of the window on', { firstAttemptAt: NOON }, true],
    ['before the end of the window', { firstAttemptAt: NOON + 999 }, true],
    ['not before the start', { firstAttemptAt: NOON - 1 }, false],
    ['not at the end', { firstAttemptAt: NOON + 1_000 }, false],
    ['not of another subscription', { subscriptionId: 'subscription-2' }, false],
    ['not of an earlier replay', { series: 1 }, false],
    ['not of a test', { eventType: 'test' }, false],
  ])('%s', (_, given, selected) => expect(replayStatusOf(replay, { ...attempt, ...given }) !== null).toBe(selected));

  it('keeps to the event type and the device that are asked for', () => {
    const of = (given: Partial<WebhookReplay>) => replayStatusOf({ ...replay, ...given }, attempt) !== null;
    expect([of({ eventType: 'position' }), of({ eventType: 'ignition_on' })]).toEqual([true, false]);
    expect([of({ deviceId: 'device-1' }), of({ deviceId: 'device-2' })]).toEqual([true, false]);
  });

  it('keeps to the one event that is resent (R-33)', () => {
    const of = (eventId: string) => replayStatusOf({ ...replay, eventId }, attempt) !== null;
    expect([of('event-1'), of('event-2')]).toEqual([true, false]);
  });

  it('keeps to the status that is asked for', () => {
    expect(isReplayed({ status: null }, 'failed')).toBe(true);
    expect(isReplayed({ status: 'failed' }, 'failed')).toBe(true);
    expect(isReplayed({ status: 'failed' }, 'delivered')).toBe(false);
  });
});

describe('a delivery that is sent again', () => {
  const delivery: WebhookDelivery = {
    eventId: 'event-1',
    subscriptionId: 'subscription-1',
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: NOON,
    format: 'v1',
    body: '{"a" : 1}',
    createdAt: NOON,
    series: 0,
    replayId: null,
  };

  it('is the same in all but series, replay and time', () => {
    const expected = { ...delivery, series: 3, replayId: 'replay-1', createdAt: NOON + 5 };
    expect(replayedDelivery(delivery, replay, NOON + 5)).toEqual(expected);
  });
});

describe('a replay', () => {
  it.each([
    ['running', false],
    ['completed', true],
    ['cancelled', true],
  ])('that is %s is over: %s', (state, over) => expect(isReplayOver({ state })).toBe(over));
});
