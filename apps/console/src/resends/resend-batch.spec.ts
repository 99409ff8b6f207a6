import { describe, expect, it } from '@jest/globals';
import type { Replay, Subscription } from '@waypost/client';
import { filtersOf } from '../filters/delivery-filters.js';
import {
  batchOf,
  concerned,
  decodeBatch,
  idempotencyKeyOf,
  obstacleOf,
  progressOf,
  withReplay,
} from './resend-batch.js';

const NOW = Date.UTC(2026, 2, 20, 12);

function subscription(id: string, eventType: string, deviceIds?: string[]): Subscription {
  return { id, fleetId: 'tour', eventType, ...(deviceIds && { deviceIds }) } as unknown as Subscription;
}

function replay(subscriptionId: string, state: string, sent: number, matched?: number): Replay {
  const progress = { sent, ...(matched !== undefined && { matched }) };
  return { subscriptionId, replayId: `r-${subscriptionId}`, state, progress } as Replay;
}

const ALL = [subscription('a', 'position'), subscription('b', 'ignition_on', ['van-1']), subscription('c', 'position')];

function batch(search: string) {
  return batchOf({ id: 'x', filters: filtersOf(search), subscriptions: ALL, openedAtMs: NOW - 60_000, nowMs: NOW });
}

describe('resending what a filter matches (R-30)', () => {
  it.each([
    ['', ['a', 'b', 'c']],
    ['?eventType=position', ['a', 'c']],
    ['?deviceId=van-2', ['a', 'c']],
    ['?deviceId=van-1&eventType=ignition_on', ['b']],
  ])('concerns, of %j, the subscriptions %j', (search, ids) => {
    expect(concerned(filtersOf(search), ALL).map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ['?eventId=0b0e8f0a-0000-4000-8000-000000000000', /own page/],
    ['?payload=driverId:driver-46', /payload field/],
    ['?eventType=test', /Test events/],
  ])('is refused for %s, which a replay cannot be limited to', (search, reason) => {
    expect(obstacleOf(filtersOf(search))).toMatch(reason);
  });

  it('takes the window as it was opened, to now, with the result and the device of the filter', () => {
    expect(obstacleOf(filtersOf('?eventType=test&eventType=position'))).toBeNull();
    expect(batch('?range=1h&status=failed&statusCode=503&deviceId=van-1').body).toEqual({
      startDate: '2026-03-20T10:59:00.000Z',
      endDate: '2026-03-20T12:00:00.000Z',
      status: 'failed',
      statusCode: 503,
      deviceId: 'van-1',
    });
    const window = '?from=2026-03-19T08:00:00.000Z&to=2026-03-19T09:00:00.000Z';
    expect(batch(window).body.endDate).toBe('2026-03-19T09:00:00.000Z');
  });

  it('creates one replay per subscription, however often it is begun', () => {
    const keys = batch('').items.map((item) => idempotencyKeyOf(batch(''), item));
    expect(new Set(keys).size).toBe(3);
    expect(batch('').items.map((item) => idempotencyKeyOf(batch(''), item))).toEqual(keys);
    expect(withReplay(batch(''), replay('b', 'pending', 0)).items.map(({ replayId }) => replayId)).toEqual([
      null,
      'r-b',
      null,
    ]);
  });

  it('is over when every replay is, those that were not created among them', () => {
    const { items } = batch('');
    expect(progressOf(items, [replay('a', 'running', 3, 10), replay('b', 'completed', 4, 4)])).toEqual({
      matched: 14,
      sent: 7,
      open: 2,
    });
    const over = [replay('a', 'cancelled', 3, 10), replay('b', 'completed', 4, 4), replay('c', 'completed', 0)];
    expect(progressOf(items, over).open).toBe(0);
  });

  it('is found again in the storage of the browser, and nothing else is', () => {
    expect(decodeBatch(JSON.parse(JSON.stringify(batch(''))))).toEqual(batch(''));
    for (const other of [null, 1, {}, { ...batch(''), items: 'x' }]) expect(decodeBatch(other)).toBeNull();
  });
});
