import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ReplayProgress, RETENTION_MS } from '@waypost/domain';
import type { ResendableDeliveries, ResendableQuery } from '@waypost/history-store';
import { refusalOf } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';
import type { ReplayDto } from './replays.dto.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const DAY_MS = 86_400_000;
let subscriptionId: string;
let path: string;

/** What the history was asked to count. */
const counted: ResendableQuery[] = [];
const resendable: ResendableDeliveries = {
  count(query) {
    counted.push(query);
    return Promise.resolve({ deliveries: 7, hasMore: true });
  },
};

const suite = useTestFleet({ resendable });
const { send } = suite;
beforeEach(async () => {
  subscriptionId = await subscribe();
  path = `${SUBSCRIPTIONS}/${subscriptionId}/replays`;
  suite.waitedFor.length = 0;
  counted.length = 0;
});

async function subscribe(): Promise<string> {
  const json = { eventType: 'position', url: `https://receiver.example/${randomUUID()}` };
  const { data } = (await send('POST', SUBSCRIPTIONS, json)).body as { data: { id: string }[] };
  return data[0]?.id ?? '';
}

const WINDOW = { startDate: '2026-03-18T00:00:00Z', endDate: '2026-03-19T01:30:00+01:00' };

async function create(more: object = {}): Promise<ReplayDto> {
  const answer = await send('POST', path, { ...WINDOW, ...more });
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  return answer.body as ReplayDto;
}
async function read({ replayId }: ReplayDto) {
  return (await send('GET', `${path}/${replayId}`)).body as ReplayDto;
}
function cancel({ replayId }: ReplayDto) {
  return send('POST', `${path}/${replayId}/cancel`);
}

function progressOf({ replayId }: ReplayDto, more: Partial<ReplayProgress>): ReplayProgress {
  return {
    replayId,
    subscriptionId,
    state: 'running',
    attemptsEnd: 5,
    nextDeliveryOffset: 9,
    matched: null,
    sent: 0,
    startedAt: suite.nowMs + 1_000,
    updatedAt: suite.nowMs + 2_000,
    ...more,
  };
}
async function outboxOf(replayId: string) {
  const rows = await suite.sql.query('SELECT kind, partition_key, value FROM outbox WHERE key = $1 ORDER BY id', [
    replayId,
  ]);
  return rows.rows as { kind: string; partition_key: string; value: Record<string, unknown> | null }[];
}

describe('POST /public/v1/webhook-subscriptions/{id}/replays (R-30)', () => {
  it('answers 202 with the replay, which is stored, and published in the partition of its subscription', async () => {
    const more = { status: 'failed', statusCode: 503, eventType: 'position', deviceId: 'device-1', ratePerSecond: 20 };
    const answer = await send('POST', path, { ...WINDOW, ...more });
    expect(answer.status).toBe(202);
    const made = answer.body as ReplayDto;
    expect(made).toEqual({
      replayId: expect.any(String),
      subscriptionId,
      series: 1,
      state: 'pending',
      startDate: '2026-03-18T00:00:00.000Z',
      endDate: '2026-03-19T00:30:00.000Z',
      ...more,
      progress: { sent: 0 },
      createdAt: '2026-03-20T12:00:00.000Z',
    });
    expect(await read(made)).toEqual(made);
    const [row, ...others] = await outboxOf(made.replayId);
    expect(others).toEqual([]);
    expect(row).toEqual({
      kind: 'webhook-replay',
      partition_key: subscriptionId,
      value: {
        replayId: made.replayId,
        subscriptionId,
        fleetId: suite.fleetId,
        series: 1,
        ...more,
        eventId: null,
        startDate: Date.UTC(2026, 2, 18),
        endDate: Date.UTC(2026, 2, 19, 0, 30),
        cancelled: false,
        version: 1,
        createdAt: suite.nowMs,
        updatedAt: suite.nowMs,
      },
    });
    expect(suite.waitedFor).toEqual([[expect.any(String)]]);
  });

  it('defaults to 500 per second and everything in the window', async () => {
    const made = await create();
    expect(made.ratePerSecond).toBe(500);
    for (const filter of ['status', 'statusCode', 'eventType', 'deviceId']) expect(made).not.toHaveProperty(filter);
  });

  it('begins no earlier than the retention', async () => {
    expect((await create({ startDate: '2020-01-01T00:00:00Z' })).startDate).toBe(
      new Date(suite.nowMs - RETENTION_MS).toISOString(),
    );
  });

  it.each([
    ['startDate', { startDate: undefined }, 'is required'],
    ['startDate', { startDate: '2026-03-18T00:00:00' }, 'ISO 8601'],
    ['endDate', { endDate: 7 }, 'string'],
    ['endDate', { endDate: WINDOW.startDate }, 'after startDate'],
    ['endDate', { startDate: '2020-01-01T00:00:00Z', endDate: '2020-02-01T00:00:00Z' }, 'last 15 days'],
    ['status', { status: 'lost' }, 'one of'],
    ['statusCode', { statusCode: 99 }, 'at least 100'],
    ['statusCode', { statusCode: 1_000 }, 'at most 999'],
    ['statusCode', { statusCode: 503.5 }, 'integer'],
    ['eventType', { eventType: 'test' }, 'one of'],
    ['deviceId', { deviceId: '' }, 'empty'],
    ['deviceId', { deviceId: 'a\u0000' }, 'control'],
    ['ratePerSecond', { ratePerSecond: 0 }, 'at least 1'],
    ['ratePerSecond', { ratePerSecond: 10_001 }, 'at most 10000'],
    ['ratePerSecond', { ratePerSecond: 1.5 }, 'integer'],
    ['color', { color: 'red' }, 'not a field'],
  ])('names %s when it is wrong: %j', async (field, more, message) => {
    const answer = await send('POST', path, { ...WINDOW, ...more });
    expect(answer.status).toBe(400);
    const details = [{ field, message: expect.stringContaining(message) as unknown }];
    expect(answer.body).toMatchObject({ error: { code: 'invalid_body', details } });
  });

  it('numbers the replays of each subscription from 1 despite concurrent requests', async () => {
    const all = await Promise.all([create(), create(), create()]);
    expect(all.map(({ series }) => series).sort()).toEqual([1, 2, 3]);
    path = `${SUBSCRIPTIONS}/${await subscribe()}/replays`;
    expect((await create()).series).toBe(1);
  });

  it('answers 409 while three are not over, also when they are asked for at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('POST', path, WINDOW)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ error: { code: 'too_many_replays' } });
    const made = answers.filter(({ status }) => status === 202).map(({ body }) => body as ReplayDto);
    // What has begun is not over either.
    await suite.store.replays.recordProgress(made.map((one) => progressOf(one, { matched: 7 })));
    expect(refusalOf(await send('POST', path, WINDOW)).code).toBe('too_many_replays');
    await suite.store.replays.recordProgress(
      made.slice(0, 1).map((one) => progressOf(one, { state: 'completed', matched: 7, sent: 7 })),
    );
    expect((await create()).series).toBe(4);
  });

  it('answers 409 for a subscription that is paused', async () => {
    await send('PATCH', `${SUBSCRIPTIONS}/${subscriptionId}`, { status: 'paused' });
    const answer = await send('POST', path, WINDOW);
    expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'subscription_not_active' } }]);
  });

  it('deletes replays whose deliveries have left the log, with a tombstone, and never reuses their series', async () => {
    const old = await create();
    suite.nowMs += 16 * DAY_MS;
    const later = { startDate: '2026-04-01T00:00:00Z', endDate: '2026-04-02T00:00:00Z' };
    await create(later);
    expect((await send('GET', `${path}/${old.replayId}`)).status).toBe(200);
    suite.nowMs += 1;
    expect((await create(later)).series).toBe(3);
    expect((await send('GET', `${path}/${old.replayId}`)).status).toBe(404);
    expect(
      (await outboxOf(old.replayId)).map(({ value, partition_key }) => [value?.['version'], partition_key]),
    ).toEqual([
      [1, subscriptionId],
      [undefined, subscriptionId],
    ]);
  });
});

describe('the progress of a replay', () => {
  it('is shown as the topic has it', async () => {
    const made = await create();
    await suite.store.replays.recordProgress([progressOf(made, {})]);
    expect(await read(made)).toMatchObject({
      state: 'running',
      progress: { sent: 0 },
      startedAt: '2026-03-20T12:00:01.000Z',
    });
    await suite.store.replays.recordProgress([
      progressOf(made, { matched: 7 }),
      progressOf(made, { matched: 7, sent: 3 }),
    ]);
    expect((await read(made)).progress).toEqual({ matched: 7, sent: 3 });
    // One that does not count again what it sends says nothing of it.
    await suite.store.replays.recordProgress([progressOf(made, { matched: null, sent: 4 })]);
    expect((await read(made)).progress).toEqual({ matched: 7, sent: 4 });
    await suite.store.replays.recordProgress([progressOf(made, { state: 'completed', matched: 7, sent: 7 })]);
    expect(await read(made)).toMatchObject({
      state: 'completed',
      progress: { matched: 7, sent: 7 },
      endedAt: '2026-03-20T12:00:02.000Z',
    });
  });

  it('ignores repeated progress and progress of unknown replays', async () => {
    const made = await create();
    const all = [
      progressOf(made, { matched: 7 }),
      progressOf(made, { matched: 7, sent: 3 }),
      progressOf(made, { state: 'cancelled', matched: 7, sent: 4 }),
    ];
    await suite.store.replays.recordProgress(all);
    const shown = await read(made);
    for (const one of all) await suite.store.replays.recordProgress([one]);
    await suite.store.replays.recordProgress([{ ...progressOf(made, {}), replayId: randomUUID() }]);
    await suite.store.replays.recordProgress([]);
    expect(await read(made)).toEqual(shown);
  });
});

describe('progress that comes late', () => {
  it('does not take a running replay back', async () => {
    const made = await create();
    for (const sent of [3, 2]) await suite.store.replays.recordProgress([progressOf(made, { matched: 7, sent })]);
    expect((await read(made)).progress).toEqual({ matched: 7, sent: 3 });
  });

  it('does not make a replay run that is over', async () => {
    const made = await create();
    for (const state of ['completed', 'running'])
      await suite.store.replays.recordProgress([progressOf(made, { state, matched: 7, sent: 7 })]);
    expect((await read(made)).state).toBe('completed');
  });
});

describe('cancelling a replay', () => {
  it('publishes it, and shows it as cancelling until the replayer has heard of it', async () => {
    const made = await create();
    suite.nowMs += 1_000;
    const answer = await cancel(made);
    expect([answer.status, (answer.body as ReplayDto).state]).toEqual([200, 'cancelling']);
    expect((await outboxOf(made.replayId)).map(({ value }) => [value?.['version'], value?.['cancelled']])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(suite.waitedFor).toHaveLength(2);
    await suite.store.replays.recordProgress([progressOf(made, { state: 'cancelled' })]);
    expect((await read(made)).state).toBe('cancelled');
  });

  it('changes nothing the second time, nor when it is over', async () => {
    const [again, over] = [await create(), await create()];
    await cancel(again);
    expect((await cancel(again)).body).toMatchObject({ state: 'cancelling' });
    expect(await outboxOf(again.replayId)).toHaveLength(2);
    await suite.store.replays.recordProgress([progressOf(over, { state: 'completed', matched: 1, sent: 1 })]);
    expect((await cancel(over)).body).toMatchObject({ state: 'completed' });
    expect(await outboxOf(over.replayId)).toHaveLength(1);
  });
});

describe('GET /public/v1/webhook-subscriptions/{id}/replays', () => {
  it('walks all of them, newest first', async () => {
    for (let series = 1; series <= 5; series++) {
      const made = await create();
      await suite.store.replays.recordProgress([progressOf(made, { state: 'completed' })]);
    }
    const walked: number[] = [];
    let state: string | null = '';
    while (state !== null) {
      const page = await send('GET', `${path}?limit=2${state === '' ? '' : `&pageState=${state}`}`);
      const { data, nextPageState } = page.body as { data: ReplayDto[]; nextPageState: string | null };
      walked.push(...data.map(({ series }) => series));
      state = nextPageState;
    }
    expect(walked).toEqual([5, 4, 3, 2, 1]);
  });

  it.each(['limit=0', 'state=running'])('refuses %s', async (query) => {
    expect((await send('GET', `${path}?${query}`)).status).toBe(400);
  });
});

describe('GET /public/v1/webhook-subscriptions/{id}/resendable (R-30)', () => {
  const query = `startDate=${WINDOW.startDate}&endDate=${encodeURIComponent(WINDOW.endDate)}`;
  const count = (of: string, more = '') => send('GET', `${SUBSCRIPTIONS}/${of}/resendable?${query}${more}`);

  it('counts what the filters of a replay select, by the results of the replays that there were', async () => {
    const filters = '&status=failed&statusCode=503&eventType=position&deviceId=van-1';
    expect((await count(subscriptionId, filters)).body).toEqual({ deliveries: 7, hasMore: true });
    await create();
    suite.nowMs += 60_000;
    await create();
    await count(subscriptionId);
    expect(counted.map(({ replayedFrom }) => replayedFrom)).toEqual([null, suite.nowMs - 60_000]);
    const asked = { status: 'failed', statusCode: 503, deviceId: 'van-1' };
    expect(counted[0]).toMatchObject({ subscriptionId, fleetId: suite.fleetId, ...asked });
  });

  it('counts nothing of a type that the subscription does not have (R-16)', async () => {
    const answer = await count(subscriptionId, '&eventType=ignition_on');
    expect(answer.body).toEqual({ deliveries: 0, hasMore: false });
    expect(counted).toEqual([]);
  });

  it('is refused as a replay would be: an unknown subscription, a window that ends before it begins', async () => {
    expect((await count(randomUUID())).status).toBe(404);
    for (const wrong of ['&status=lost', '&eventType=test'])
      expect((await count(subscriptionId, wrong)).status).toBe(400);
    const backwards = `startDate=${WINDOW.startDate}&endDate=2026-03-17T00:00:00Z`;
    expect((await send('GET', `${SUBSCRIPTIONS}/${subscriptionId}/resendable?${backwards}`)).status).toBe(400);
  });
});

describe("another fleet's replay, another subscription's, and one that is not there", () => {
  it.each([
    ['POST', '', WINDOW],
    ['GET', '', undefined],
    ['GET', '/{id}', undefined],
    ['POST', '/{id}/cancel', undefined],
  ])('are not found: %s %s', async (method, suffix, json) => {
    const made = await create();
    const to = path + suffix.replace('{id}', made.replayId);
    const foreign = await suite.api.request(to, { method, json, key: suite.api.addKey(`${suite.fleetId}-other`) });
    expect(foreign.status).toBe(404);
    const deleted = `${SUBSCRIPTIONS}/${randomUUID()}/replays${suffix.replace('{id}', made.replayId)}`;
    expect(refusalOf(await send(method, deleted, json))).toEqual(refusalOf(foreign));
    if (suffix !== '') {
      for (const id of [randomUUID(), 'nonsense'])
        expect((await send(method, path + suffix.replace('{id}', id))).status).toBe(404);
      const other = `${SUBSCRIPTIONS}/${await subscribe()}/replays${suffix.replace('{id}', made.replayId)}`;
      expect((await send(method, other)).status).toBe(404);
    }
    expect((await read(made)).state).toBe('pending');
  });
});

describe('a key with the scope to read only', () => {
  it('lists replays, and neither creates nor cancels one', async () => {
    const reader = suite.api.addKey(suite.fleetId, ['subscriptions:read']);
    const made = await create();
    expect((await suite.api.request(path, { method: 'POST', key: reader, json: WINDOW })).status).toBe(403);
    expect((await suite.api.request(`${path}/${made.replayId}/cancel`, { method: 'POST', key: reader })).status).toBe(
      403,
    );
    expect((await suite.api.request(path, { key: reader })).status).toBe(200);
  });
});
