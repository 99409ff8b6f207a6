import { describe, expect, it } from '@jest/globals';
import { type Replay, type Subscription, WaypostApiError } from '@waypost/client';
import { filtersOf } from '../filters/delivery-filters.js';
import {
  batchOf,
  cancelCreated,
  canContinue,
  concerned,
  createMissing,
  decodeBatch,
  idempotencyKeyOf,
  isForgettable,
  mayMatch,
  obstacleOf,
  parted,
  progressOf,
  type ResendBatch,
  type ResendItem,
  totalOf,
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

function refusal(status: number, code: WaypostApiError['code'] = 'unknown'): WaypostApiError {
  const response = { status, code, message: 'Not this one.', details: [], requestId: null } as const;
  return new WaypostApiError({ ...response, retryAfterMs: null }, 1);
}

/** What was saved last, whether it went through or stopped. */
async function created(
  from: ResendBatch,
  answer: (id: string) => Replay | Error,
  { signal } = new AbortController(),
): Promise<ResendBatch> {
  let saved = from;
  const create = ({ subscriptionId }: ResendItem): Promise<Replay> => {
    const answered = answer(subscriptionId);
    return answered instanceof Error ? Promise.reject(answered) : Promise.resolve(answered);
  };
  await createMissing(from, { create, save: (one) => (saved = one), signal }).catch(() => undefined);
  return saved;
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
    expect(obstacleOf(filtersOf(search), { state: 'complete' })).toMatch(reason);
  });

  it.each([
    ['loading', /Looking up/],
    ['failed', /could not be read/],
    ['incomplete', /more subscriptions than one resend takes, 1,000 at most/],
  ] as const)('is refused while the list of subscriptions is %s: some would be left out silently', (state, reason) => {
    expect(obstacleOf(filtersOf('?status=failed'), { state })).toMatch(reason);
  });

  it('takes the window as it was opened, to now, with the result and the device of the filter', () => {
    expect(obstacleOf(filtersOf('?eventType=test&eventType=position'), { state: 'complete' })).toBeNull();
    expect(batch('?range=1h&status=failed&statusCode=503&deviceId=van-1').body).toEqual({
      startDate: '2026-03-20T10:59:00.000Z',
      endDate: '2026-03-20T12:00:00.000Z',
      status: 'failed',
      statusCode: 503,
      deviceId: 'van-1',
    });
    expect(batch('?range=1h&status=failed').text).toMatch(
      /^failed, from \d\d Mar 2026, \d\d:59:00 to \d\d Mar 2026, \d\d:00:00$/,
    );
    const window = '?from=2026-03-19T08:00:00.000Z&to=2026-03-19T09:00:00.000Z';
    expect(batch(window).body.endDate).toBe('2026-03-19T09:00:00.000Z');
  });

  it('creates one replay per subscription, however often it is begun', async () => {
    const keys = batch('').items.map((item) => idempotencyKeyOf(batch(''), item));
    expect(new Set(keys).size).toBe(3);
    expect(batch('').items.map((item) => idempotencyKeyOf(batch(''), item))).toEqual(keys);
    const begun = await created(batch(''), (id) => (id === 'c' ? new TypeError('lost') : replay(id, 'pending', 0)));
    expect(begun.items.map(({ replayId }) => replayId)).toEqual(['r-a', 'r-b', null]);
    const asked: string[] = [];
    await created(begun, (id) => {
      asked.push(id);
      return replay(id, 'pending', 0);
    });
    expect(asked).toEqual(['c']);
  });

  it('leaves out those that are not active, and names them', () => {
    const all = ALL.map((one, index) => ({ ...one, status: (['active', 'paused', 'disabled'] as const)[index] }));
    const { active, stopped } = parted(all as Subscription[]);
    expect([active, stopped].map((some) => some.map(({ id }) => id))).toEqual([['a'], ['b', 'c']]);
  });

  it.each([
    [404, 'not_found'],
    [409, 'subscription_not_active'],
    [409, 'too_many_replays'],
  ] as const)('goes on after a subscription whose replay is refused with %d %s, and says why', async (status, code) => {
    const begun = await created(batch(''), (id) => (id === 'a' ? refusal(status, code) : replay(id, 'pending', 0)));
    expect(begun.items).toEqual([
      { subscriptionId: 'a', replayId: null, refusal: `${String(status)} ${code}: Not this one.` },
      { subscriptionId: 'b', replayId: 'r-b' },
      { subscriptionId: 'c', replayId: 'r-c' },
    ]);
    expect(progressOf(begun.items, [])).toMatchObject({ open: 2, refused: 1 });
    const activated = await created(begun, (id) => replay(id, 'pending', 0));
    expect(activated.items[0]).toEqual({ subscriptionId: 'a', replayId: 'r-a' });
  });

  it.each([400, 401, 403, 409, 429, 503])(
    'stops at an answer of %d, which every subscription would get',
    async (status) => {
      const asked: string[] = [];
      await created(batch(''), (id) => {
        asked.push(id);
        return refusal(status);
      });
      expect(asked).toEqual(['a']);
    },
  );

  it('creates no more once it is stopped, and keeps the one that was under way', async () => {
    const stopper = new AbortController();
    const answer = (id: string): Replay => {
      stopper.abort();
      return replay(id, 'pending', 0);
    };
    const begun = await created(batch(''), answer, stopper);
    expect(begun.items.map(({ replayId }) => replayId)).toEqual(['r-a', null, null]);
  });

  it('cancels every replay, past those that are gone or fail, and says what failed first', async () => {
    const { items } = await created(batch(''), (id) => replay(id, 'pending', 0));
    const cancelled: string[] = [];
    const cancel = (failures: Record<string, Error>) => async (created: { subscriptionId: string }) => {
      cancelled.push(created.subscriptionId);
      const failure = failures[created.subscriptionId];
      if (failure) throw failure;
      return Promise.resolve();
    };
    await cancelCreated(items, cancel({ a: refusal(404) }));
    expect(cancelled.splice(0)).toEqual(['a', 'b', 'c']);
    await expect(cancelCreated(items, cancel({ a: refusal(503), b: refusal(401) }))).rejects.toThrow(/^503/);
    expect(cancelled).toEqual(['a', 'b', 'c']);
  });

  it('is over when every replay is, those that were not created among them', () => {
    const { items } = batch('');
    expect(progressOf(items, [replay('a', 'running', 3, 10), replay('b', 'completed', 4, 4)])).toEqual({
      matched: 14,
      sent: 7,
      open: 2,
      refused: 0,
    });
    const over = [replay('a', 'cancelled', 3, 10), replay('b', 'completed', 4, 4), replay('c', 'completed', 0)];
    expect(progressOf(items, over).open).toBe(0);
    // With its subscription, or by its age.
    expect(progressOf(items, over.slice(1), 1).open).toBe(0);
  });

  it('can be forgotten when each of its replays is known to be over or gone, and not before it has begun', () => {
    const fresh = batch('');
    const begun = { ...fresh, items: fresh.items.map((item) => ({ ...item, replayId: `r-${item.subscriptionId}` })) };
    const refused = { ...fresh, items: fresh.items.map((item) => ({ ...item, refusal: 'No.' })) };
    const over = [replay('a', 'cancelled', 3, 10), replay('b', 'completed', 4, 4)];
    const running = replay('c', 'running', 3, 10);
    const day = NOW + 24 * 3_600_000;
    const answers = [
      isForgettable(begun, [], { gone: 0, nowMs: NOW }),
      isForgettable(begun, over, { gone: 0, nowMs: NOW }),
      isForgettable(begun, [...over, running], { gone: 0, nowMs: NOW }),
      isForgettable(begun, over, { gone: 1, nowMs: NOW }),
      isForgettable(fresh, [], { gone: 0, nowMs: NOW }),
      isForgettable(fresh, [], { gone: 0, nowMs: day }),
      isForgettable(refused, [], { gone: 0, nowMs: NOW }),
    ];
    expect(answers).toEqual([false, false, false, true, false, true, true]);
    expect([canContinue(fresh, NOW), canContinue(fresh, day), canContinue(begun, NOW)]).toEqual([true, false, false]);
  });

  it('is found again in the storage of the browser, and nothing else is', () => {
    expect(decodeBatch(JSON.parse(JSON.stringify(batch(''))))).toEqual(batch(''));
    for (const other of [null, 1, {}, { ...batch(''), items: 'x' }]) expect(decodeBatch(other)).toBeNull();
  });
});

describe('what a resend would send (R-30)', () => {
  it('is the sum of what was counted, and takes as long as the longest replay at its rate', () => {
    const counts = [
      { deliveries: 1_500, hasMore: false },
      { deliveries: 400, hasMore: false },
    ];
    expect(totalOf(counts)).toEqual({ deliveries: 1_900, hasMore: false, leastMs: 3_000 });
    expect(totalOf([...counts, { deliveries: 10_000, hasMore: true }])).toEqual({
      deliveries: 11_900,
      hasMore: true,
      leastMs: 20_000,
    });
    expect(totalOf([])).toEqual({ deliveries: 0, hasMore: false, leastMs: 0 });
  });

  it('leaves out a subscription only if nothing can match', () => {
    expect(mayMatch({ deliveries: 0, hasMore: false })).toBe(false);
    expect(mayMatch({ deliveries: 0, hasMore: true })).toBe(true);
    expect(mayMatch({ deliveries: 1, hasMore: false })).toBe(true);
    expect(mayMatch(undefined)).toBe(true);
  });
});
