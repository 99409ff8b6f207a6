import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type DeliveryHistory, MAX_PAGE_BYTES, RETENTION_MS } from '@waypost/domain';
import { attemptEntry, deliveryRecord, historyOf, waitingDelivery } from '../testing/delivery-records.js';
import { idsOf, pageOf } from '../testing/event-pages.js';
import { refusalOf, startTestApiPerTest, type TestAnswer } from '../testing/test-api.js';

const PATH = '/public/v2/events';
const NOW = Date.UTC(2026, 2, 20, 12);

const build = startTestApiPerTest({ now: () => NOW });

describe('GET /public/v2/events (R-33)', () => {
  it('shows a delivery with its payload as it was pushed', async () => {
    const at = NOW - 3_600_000;
    const body = '{"zeta":1,"alpha":{"b":[1.5,null],"a":"é"},"eventId":"x"}';
    const record = deliveryRecord({
      firstAttemptAt: at,
      body,
      format: 'legacy-v1',
      status: 'pending',
      statusCode: 503,
      deliveredAt: null,
      nextAttemptAt: at + 2_000,
      attempts: [attemptEntry({ dueAt: at - 40, startedAt: at, durationMs: 12, statusCode: 503, outcome: 'retrying' })],
    });
    const { url, addKey } = await build({ history: historyOf([record]) });

    const answer = await fetch(`${url}${PATH}`, { headers: { authorization: `Bearer ${addKey('acme')}` } });
    const text = await answer.text();

    expect(text).toContain(`"payload":${body}`);
    expect(JSON.parse(text)).toEqual({
      data: [
        {
          eventId: record.eventId,
          eventType: 'position',
          eventTime: '2026-03-20T10:59:59.500Z',
          deviceId: 'device-1',
          subscriptionId: record.subscriptionId,
          format: 'legacy-v1',
          payload: { zeta: 1, alpha: { b: [1.5, null], a: 'é' }, eventId: 'x' },
          delivery: {
            status: 'pending',
            series: 0,
            statusCode: 503,
            attemptCount: 1,
            firstAttemptAt: '2026-03-20T11:00:00.000Z',
            lastAttemptAt: '2026-03-20T11:00:00.000Z',
            nextAttemptAt: '2026-03-20T11:00:02.000Z',
            attempts: [
              {
                attempt: 1,
                dueAt: '2026-03-20T10:59:59.960Z',
                startedAt: '2026-03-20T11:00:00.000Z',
                durationMs: 12,
                statusCode: 503,
              },
            ],
          },
        },
      ],
      nextPageState: null,
      completeUntil: null,
    });
  });

  it('explains an attempt that failed: the error in words, and what the receiver said', async () => {
    const refused = { statusCode: 422, responseBody: '{"error":"no \\"such\\" vehicle"}\n', outcome: 'retrying' };
    const lost = { attempt: 2, statusCode: null, errorCode: 'dns_error', errorDetail: 'the name has no address' };
    const record = deliveryRecord({ firstAttemptAt: NOW - 1, attempts: [attemptEntry(refused), attemptEntry(lost)] });
    const { request } = await build({ history: historyOf([record]) });
    const { body } = await request(PATH);
    const { data } = body as { data: [{ delivery: { attempts: object[] } }] };
    expect(data[0].delivery.attempts).toMatchObject([
      { statusCode: 422, responseBody: refused.responseBody },
      { error: 'dns_error', errorDetail: lost.errorDetail },
    ]);
    expect(data[0].delivery.attempts[0]).not.toHaveProperty('errorDetail');
  });

  it('says in each answer until when the history is complete', async () => {
    const record = deliveryRecord({ firstAttemptAt: NOW - 1 });
    const { request } = await build({ history: historyOf([record], { completeUntil: NOW - 70_000 }) });
    for (const query of ['', '?eventType=teleport', '?startDate=2030-01-01T00:00:00Z', `/${record.eventId}`]) {
      const { body } = await request(`${PATH}${query}`);
      expect(body).toHaveProperty('completeUntil', '2026-03-20T11:58:50.000Z');
    }
  });

  it('has among the pending ones those that wait for their first attempt, without times of attempts', async () => {
    const waiting = waitingDelivery({ createdAt: NOW - 5_000, eventTime: NOW - 6_000, body: '{"a":1}' });
    const retried = deliveryRecord({
      firstAttemptAt: NOW - 1_000,
      status: 'pending',
      statusCode: 503,
      deliveredAt: null,
    });
    const { request } = await build({ history: historyOf([retried], { waiting: [waiting] }) });

    const { data } = pageOf(await request(`${PATH}?status=pending&include=body`));
    expect(data.map(({ eventId }) => eventId)).toEqual([retried.eventId, waiting.eventId]);
    expect(data[1]).toEqual({
      eventId: waiting.eventId,
      eventType: 'position',
      eventTime: '2026-03-20T11:59:54.000Z',
      deviceId: waiting.deviceId,
      subscriptionId: waiting.subscriptionId,
      format: 'v1',
      payload: { a: 1 },
      body: '{"a":1}',
      delivery: { status: 'pending', series: 0, attemptCount: 0, attempts: [] },
    });
    expect(idsOf(await request(`${PATH}?status=pending&order=desc`))).toEqual([waiting.eventId, retried.eventId]);
  });

  it('walks on from one delivery that waits to the next', async () => {
    const retried = deliveryRecord({
      firstAttemptAt: NOW - 1_000,
      status: 'pending',
      statusCode: 503,
      deliveredAt: null,
    });
    const waiting = [3, 2, 1].map((seconds) => waitingDelivery({ createdAt: NOW - seconds * 1_000 }));
    const { request } = await build({ history: historyOf([retried], { waiting }) });
    const inOrder = [retried, ...waiting].map(({ eventId }) => eventId);
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let more = '';
      do {
        const page = await request(`${PATH}?status=pending&limit=1&order=${order}${more}`);
        seen.push(...idsOf(page));
        more = `&pageState=${String(pageOf(page).nextPageState)}`;
      } while (!more.endsWith('null') && seen.length <= inOrder.length);
      expect(seen).toEqual(order === 'asc' ? inOrder : inOrder.toReversed());
    }
  });

  it('leaves a waiting delivery for the next page that would give this one more bytes than it may have (R-34a)', async () => {
    const retried = deliveryRecord({
      firstAttemptAt: NOW - 1_000,
      status: 'pending',
      statusCode: 503,
      deliveredAt: null,
    });
    const waiting = waitingDelivery({ createdAt: NOW - 5_000 });
    const held = historyOf([retried], { waiting: [waiting] });
    const history: DeliveryHistory = {
      findEvent: (query) => held.findEvent(query),
      findDeliveries: async (query) => ({ ...(await held.findDeliveries(query)), bytes: MAX_PAGE_BYTES - 1_000 }),
      // A single one is found, whatever its size.
      findWaiting: async (query) => ({ ...(await held.findWaiting(query)), bytes: 2_000 }),
    };
    const { request } = await build({ history });
    const first = pageOf(await request(`${PATH}?status=pending`));
    expect(first.data.map(({ eventId }) => eventId)).toEqual([retried.eventId]);
    const second = await request(`${PATH}?status=pending&pageState=${String(first.nextPageState)}`);
    expect([idsOf(second), pageOf(second).nextPageState]).toEqual([[waiting.eventId], null]);
  });

  it('has no delivery without an attempt where something of an attempt is asked for', async () => {
    const { request } = await build({ history: historyOf([], { waiting: [waitingDelivery()] }) });
    for (const query of ['', '?status=pending&statusCode=503', '?status=failed', '?startDate=2026-03-20T00:00:00Z']) {
      expect(pageOf(await request(`${PATH}${query}`)).data).toEqual([]);
    }
  });

  it('adds the exact body on request', async () => {
    const record = deliveryRecord({ firstAttemptAt: NOW - 1, body: '{ "a": 1.0 }' });
    const { request } = await build({ history: historyOf([record]) });

    expect(pageOf(await request(PATH)).data[0]).not.toHaveProperty('body');
    expect(pageOf(await request(`${PATH}?include=body`)).data[0]).toHaveProperty('body', '{ "a": 1.0 }');
  });

  it('needs no window: it is the retention then', async () => {
    const records = [-RETENTION_MS - 1, -RETENTION_MS, -1].map((ago) => deliveryRecord({ firstAttemptAt: NOW + ago }));
    const { request } = await build({ history: historyOf(records) });
    expect(idsOf(await request(PATH))).toEqual([records[1]?.eventId, records[2]?.eventId]);
  });

  it('tells a test event from real ones', async () => {
    const real = deliveryRecord({ firstAttemptAt: NOW - 2 });
    const test = deliveryRecord({ firstAttemptAt: NOW - 1, eventType: 'test', deviceId: 'test-device' });
    const { request } = await build({ history: historyOf([real, test]) });
    expect(pageOf(await request(`${PATH}?eventType=test`)).data).toMatchObject([
      { eventId: test.eventId, eventType: 'test', deviceId: 'test-device' },
    ]);
    expect(idsOf(await request(`${PATH}?eventType=position`))).toEqual([real.eventId]);
  });

  it('finds nothing for a type that it does not know, and is not kept from finding others (R-31)', async () => {
    const known = deliveryRecord({ firstAttemptAt: NOW - 1 });
    const { request } = await build({ history: historyOf([known]) });
    const unknown = await request(`${PATH}?eventType=teleport%20%C3%A9&include=body`);
    expect([unknown.status, unknown.body]).toEqual([200, { data: [], nextPageState: null, completeUntil: null }]);
    expect(idsOf(await request(`${PATH}?eventType=teleport&eventType=position`))).toEqual([known.eventId]);
  });

  it('takes every filter, and eventType more than once', async () => {
    const base = NOW - 1_000;
    const [plain, ignition, failed] = [
      deliveryRecord({ firstAttemptAt: base }),
      deliveryRecord({ firstAttemptAt: base + 1, eventType: 'ignition_on', deviceId: 'device 2&é' }),
      deliveryRecord({
        firstAttemptAt: base + 2,
        eventType: 'ignition_off',
        status: 'failed',
        statusCode: 404,
        deliveredAt: null,
      }),
    ];
    const { request } = await build({ history: historyOf([plain, ignition, failed]) });
    const found = async (query: string) => idsOf(await request(`${PATH}?${query}`));

    expect(await found('eventType=ignition_on&eventType=position')).toEqual([plain.eventId, ignition.eventId]);
    expect(await found(`deviceId=${encodeURIComponent('device 2&é')}`)).toEqual([ignition.eventId]);
    expect(await found(`subscriptionId=${plain.subscriptionId.toUpperCase()}`)).toHaveLength(3);
    expect(await found(`eventId=${failed.eventId.toUpperCase()}`)).toEqual([failed.eventId]);
    expect(await found('statusCode=404')).toEqual([failed.eventId]);
    expect(await found('status=delivered')).toEqual([plain.eventId, ignition.eventId]);
    expect(await found('status=pending')).toEqual([]);
    expect(await found(`startDate=${new Date(base + 1).toISOString()}`)).toEqual([ignition.eventId, failed.eventId]);
    expect(await found(`endDate=${new Date(base + 1).toISOString()}`)).toEqual([plain.eventId]);
  });

  it('is newest first on request, page by page, and a token keeps its order', async () => {
    const records = Array.from({ length: 5 }, (_, index) => deliveryRecord({ firstAttemptAt: NOW - 100 + index }));
    const { request } = await build({ history: historyOf(records) });
    const ids = records.map(({ eventId }) => eventId);
    const first = pageOf(await request(`${PATH}?order=desc&limit=3`));
    const token = String(first.nextPageState);
    const second = pageOf(await request(`${PATH}?order=desc&limit=3&pageState=${token}`));
    expect([...first.data, ...second.data].map(({ eventId }) => eventId)).toEqual([...ids].reverse());
    expect(second.nextPageState).toBeNull();
    expect(refusalOf(await request(`${PATH}?limit=3&pageState=${token}`)).code).toBe('page_state_other_query');
    expect(idsOf(await request(`${PATH}?order=asc`))).toEqual(ids);
  });

  it('finds deliveries by a field of their payload, in either order, among those of the other filters', async () => {
    const records = [46, 47, 46, 46].map((driver, index) =>
      deliveryRecord({
        firstAttemptAt: NOW - 100 + index,
        ...(index === 3 && { eventType: 'ignition_on' }),
        body: JSON.stringify({ eventData: { driverId: `driver-${String(driver)}` } }),
      }),
    );
    const { request } = await build({ history: historyOf(records) });
    const ids = records.map(({ eventId }) => eventId);
    const query = `${PATH}?payload=driverId:driver-46`;
    expect((await request(`${query}&eventType=position`)).body).toMatchObject({ searchedUntil: null });
    expect(idsOf(await request(`${query}&eventType=position`))).toEqual([ids[0], ids[2]]);
    expect(idsOf(await request(`${query}&order=desc`))).toEqual([ids[3], ids[2], ids[0]]);
    expect(idsOf(await request(`${PATH}?payload=driverId:driver-4`))).toEqual([]);
    expect((await request(PATH)).body).not.toHaveProperty('searchedUntil');
  });

  it('finds by their payload also deliveries that wait for their first attempt', async () => {
    const waiting = [1, 2].map((driver) => waitingDelivery({ body: `{"driver":${String(driver)}}` }));
    const { request } = await build({ history: historyOf([], { waiting }) });
    expect(idsOf(await request(`${PATH}?status=pending&payload=driver:2`))).toEqual([waiting[1]?.eventId]);
  });

  it.each([
    ['payload=driverId', 'payload'],
    ['payload=:driver-46', 'payload'],
    ['payload=', 'payload'],
    [`payload=a:${'x'.repeat(511)}`, 'payload'],
    ['payload=a:%00', 'payload'],
    ['status=done', 'status'],
    ['order=newest', 'order'],
    ['include=everything', 'include'],
    ['include=body&include=body', 'include'],
    ['eventId=1', 'eventId'],
    ['subscriptionId=1', 'subscriptionId'],
    ['deviceId=', 'deviceId'],
    ['deviceId=a%00b', 'deviceId'],
    [`deviceId=${'x'.repeat(257)}`, 'deviceId'],
    ['eventType=', 'eventType'],
    [`eventType=${'x'.repeat(65)}`, 'eventType'],
    [Array.from({ length: 21 }, (_, type) => `eventType=t${String(type)}`).join('&'), 'eventType'],
    ['startDate=2026-03-02T00:00:00Z&endDate=2026-03-01T00:00:00Z', 'endDate'],
    ['pageState=', 'pageState'],
    ['page=2', 'page'],
  ])('answers 400 to %j and names the parameter', async (query, parameter) => {
    const { request } = await build();
    const answer = await request(`${PATH}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_parameter', details: [{ parameter }] } });
  });
});

describe('GET /public/v2/events/{eventId} (R-33)', () => {
  it('shows the first delivery and those of replays with their replay (R-30), page by page', async () => {
    const eventId = randomUUID();
    const first = deliveryRecord({ eventId, firstAttemptAt: NOW - 3_000 });
    const replayId = randomUUID();
    const replayed = deliveryRecord({ eventId, firstAttemptAt: NOW - 2_000, series: 4, replayId });
    const later = deliveryRecord({ eventId, firstAttemptAt: NOW - 1_000, series: 5, replayId });
    const { request } = await build({ history: historyOf([first, replayed, later, deliveryRecord()]) });
    const seriesOf = (answer: TestAnswer) =>
      (answer.body as { data: { delivery: { series: number; replayId?: string } }[] }).data.map(({ delivery }) => [
        delivery.series,
        delivery.replayId,
      ]);

    const page = await request(`${PATH}/${eventId}?limit=2`);
    expect(seriesOf(page)).toEqual([
      [0, undefined],
      [4, replayId],
    ]);
    const rest = await request(`${PATH}/${eventId}?limit=2&pageState=${String(pageOf(page).nextPageState)}`);
    expect(seriesOf(rest)).toEqual([[5, replayId]]);
  });

  it('has a later page that is empty, rather than no event', async () => {
    const eventId = randomUUID();
    const first = deliveryRecord({ eventId, firstAttemptAt: NOW - 3_000 });
    const replayed = deliveryRecord({ eventId, firstAttemptAt: NOW - 2_000, series: 4 });
    let records = [first, replayed];
    const { findDeliveries, findWaiting } = historyOf([]);
    const history: DeliveryHistory = {
      findDeliveries,
      findWaiting,
      findEvent: (query) => historyOf(records).findEvent(query),
    };
    const { request } = await build({ history });
    const page = await request(`${PATH}/${eventId}?limit=1`);
    // As a rebuild leaves it for a while.
    records = [];
    const rest = await request(`${PATH}/${eventId}?limit=1&pageState=${String(pageOf(page).nextPageState)}`);
    expect([rest.status, rest.body]).toMatchObject([200, { data: [], nextPageState: null }]);
    expect((await request(`${PATH}/${eventId}`)).status).toBe(404);
  });

  it('shows an event that waits for its first attempt', async () => {
    const waiting = waitingDelivery();
    const started = await build({ history: historyOf([], { waiting: [waiting, waitingDelivery()] }) });
    expect(idsOf(await started.request(`${PATH}/${waiting.eventId}`))).toEqual([waiting.eventId]);
    expect((await started.request(`${PATH}/${waiting.eventId}`, { key: started.addKey('other') })).status).toBe(404);
  });

  it("answers 404 to an event that is not in the history, is another fleet's, or has no id that an event can have", async () => {
    const record = deliveryRecord({ firstAttemptAt: NOW - 1_000 });
    const started = await build({ history: historyOf([record]) });
    expect((await started.request(`${PATH}/${record.eventId}`)).status).toBe(200);
    expect((await started.request(`${PATH}/${randomUUID()}`)).status).toBe(404);
    expect((await started.request(`${PATH}/${record.eventId}`, { key: started.addKey('other') })).status).toBe(404);
    expect((await started.request(`${PATH}/latest`)).status).toBe(404);
  });
});
