import { describe, expect, it } from '@jest/globals';
import { attemptOf, NOON } from '../../../../test/support/samples.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookReplay } from '../records/webhook-replay.js';
import {
  deliveryOfAttempt,
  goesByResult,
  isOfReplay,
  isReplayed,
  isReplayOver,
  replayedDelivery,
  resultOf,
} from './replay.js';

const replay: WebhookReplay = {
  replayId: 'replay-1',
  subscriptionId: 'subscription-1',
  fleetId: 'fleet-1',
  series: 3,
  startDate: NOON,
  endDate: NOON + 1_000,
  status: null,
  statusCode: null,
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
};

describe('what a replay selects (R-30)', () => {
  it.each([
    ['delivered', 'delivered', 204],
    ['failed', 'failed', 410],
    ['retrying', 'pending', null],
  ])('an attempt that is %s says that its delivery stands %s with the code %j', (outcome, status, statusCode) => {
    expect(resultOf({ outcome, statusCode })).toEqual({ status, statusCode });
  });

  it.each([
    ['from the start of the window on', { firstAttemptAt: NOON }, true],
    ['before the end of the window', { firstAttemptAt: NOON + 999 }, true],
    ['not before the start', { firstAttemptAt: NOON - 1 }, false],
    ['not at the end', { firstAttemptAt: NOON + 1_000 }, false],
    ['not of another subscription', { subscriptionId: 'subscription-2' }, false],
    ['not of an earlier replay', { series: 1 }, false],
    ['not of a test', { eventType: 'test' }, false],
  ])('%s', (_, given, selected) => expect(isOfReplay(replay, { ...attempt, ...given })).toBe(selected));

  it('keeps to the event type and the device that are asked for', () => {
    const of = (given: Partial<WebhookReplay>) => isOfReplay({ ...replay, ...given }, attempt);
    expect([of({ eventType: 'position' }), of({ eventType: 'ignition_on' })]).toEqual([true, false]);
    expect([of({ deviceId: 'device-1' }), of({ deviceId: 'device-2' })]).toEqual([true, false]);
  });

  it('keeps to the one event that is resent (R-33)', () => {
    const of = (eventId: string) => isOfReplay({ ...replay, eventId }, attempt);
    expect([of('event-1'), of('event-2')]).toEqual([true, false]);
  });

  it.each([
    [{}, true, false],
    [{ status: 'failed' }, true, true],
    [{ status: 'delivered' }, false, true],
    [{ statusCode: 503 }, true, true],
    [{ statusCode: 500 }, false, true],
    [{ status: 'failed', statusCode: 503 }, true, true],
    [{ status: 'pending', statusCode: 503 }, false, true],
  ])('keeps to the result that is asked for: %j', (given, isSelected, goesBy) => {
    const filter = { status: null, statusCode: null, ...given };
    expect(isReplayed(filter, { status: 'failed', statusCode: 503 })).toBe(isSelected);
    expect(goesByResult(filter)).toBe(goesBy);
  });

  it('has nothing without a response when a status code is asked for', () => {
    expect(isReplayed({ status: null, statusCode: 503 }, { status: 'failed', statusCode: null })).toBe(false);
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

  it('has all that the first record of its attempts tells of it, and no later one (R-15, R-24)', () => {
    const { createdAt: deliveryCreatedAt, ...its } = delivery;
    expect(deliveryOfAttempt(attemptOf({ ...its, deliveryCreatedAt, startedAt: NOON + 9 }))).toEqual(delivery);
    expect(deliveryOfAttempt(attemptOf({ ...its, body: null }))).toBeNull();
  });
});

describe('a replay', () => {
  it.each([
    ['running', false],
    ['completed', true],
    ['cancelled', true],
  ])('that is %s is over: %s', (state, over) => expect(isReplayOver({ state })).toBe(over));
});
