import { describe, expect, it } from '@jest/globals';
import { type DeliveryHistory, RETENTION_MS } from '@waypost/domain';
import { attemptEntry, deliveryRecord, historyOf } from '../testing/delivery-records.js';
import { startTestApiPerTest, type TestAnswer } from '../testing/test-api.js';

const PATH = '/public/v1/webhook-events';
const NOW = Date.UTC(2026, 2, 20, 12);
const WINDOW = 'startDate=2026-03-01T00:00:00Z&endDate=2026-04-01T00:00:00Z';

const build = startTestApiPerTest({ now: () => NOW });

function errorOf(answer: TestAnswer) {
  return (answer.body as { error: { code: string; message: string; details?: unknown } }).error;
}
function pageOf(answer: TestAnswer) {
  return answer.body as { events: { event_id: string }[]; next_page_state: string | null };
}

describe('GET /public/v1/webhook-events (R-31)', () => {
  it('shows a delivery with the field names of version 1 and nothing more', async () => {
    const at = NOW - 3_600_000;
    const record = deliveryRecord({
      firstAttemptAt: at,
      body: '{"eventId":"x",  "n":1.0}',
      lastAttemptAt: at + 2_000,
      deliveredAt: at + 2_040,
      attempts: [
        attemptEntry({ startedAt: at, durationMs: 5_000, statusCode: null, errorCode: 'timeout', outcome: 'retrying' }),
        attemptEntry({ attempt: 2, startedAt: at + 2_000, durationMs: 40, statusCode: 204 }),
      ],
      statusCode: 204,
    });
    const { request } = await build({ history: historyOf([record]) });

    const answer = await request(`${PATH}?${WINDOW}`);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      events: [
        {
          event_id: record.eventId,
          event_type: 'position',
          event_time: '2026-03-20T10:59:59.500Z',
          device_id: 'device-1',
          subscription_id: record.subscriptionId,
          url: 'https://receiver.example/hook',
          status_code: 204,
          body: '{"eventId":"x",  "n":1.0}',
          retry_count: 1,
          created_at: '2026-03-20T10:59:59.980Z',
          last_attempt_at: '2026-03-20T11:00:02.000Z',
          delivered_at: '2026-03-20T11:00:02.040Z',
          attempts: [
            { attempt: 1, started_at: '2026-03-20T11:00:00.000Z', duration_ms: 5000, error: 'timeout' },
            { attempt: 2, started_at: '2026-03-20T11:00:02.000Z', duration_ms: 40, status_code: 204 },
          ],
        },
      ],
      next_page_state: null,
    });
  });

  it('leaves status_code and delivered_at out when there is none', async () => {
    const record = deliveryRecord({
      firstAttemptAt: NOW - 1_000,
      status: 'failed',
      statusCode: null,
      deliveredAt: null,
      attempts: [attemptEntry({ statusCode: null, errorCode: 'dns', outcome: 'failed' })],
    });
    const { request } = await build({ history: historyOf([record]) });

    const [event] = pageOf(await request(`${PATH}?${WINDOW}`)).events;

    expect(event).not.toHaveProperty('status_code');
    expect(event).not.toHaveProperty('delivered_at');
    expect(event).toHaveProperty('retry_count', 0);
  });

  it('filters by event type and by status code', async () => {
    const records = [
      deliveryRecord({ firstAttemptAt: NOW - 3, eventType: 'ignition_on' }),
      deliveryRecord({ firstAttemptAt: NOW - 2, statusCode: 500, status: 'failed', deliveredAt: null }),
      deliveryRecord({ firstAttemptAt: NOW - 1 }),
    ];
    const { request } = await build({ history: historyOf(records) });

    const ids = async (filter: string) =>
      pageOf(await request(`${PATH}?${WINDOW}&${filter}`)).events.map((e) => e.event_id);

    expect(await ids('eventType=ignition_on')).toEqual([records[0]?.eventId]);
    expect(await ids('statusCode=500')).toEqual([records[1]?.eventId]);
    expect(await ids('eventType=position&statusCode=200')).toEqual([records[2]?.eventId]);
  });

  it('shows a test event with type test', async () => {
    const test = deliveryRecord({ firstAttemptAt: NOW - 1, eventType: 'test', deviceId: 'test-device' });
    const { request } = await build({ history: historyOf([deliveryRecord({ firstAttemptAt: NOW - 2 }), test]) });
    const { events } = pageOf(await request(`${PATH}?${WINDOW}&eventType=test`));
    expect(events).toMatchObject([{ event_id: test.eventId, event_type: 'test', device_id: 'test-device' }]);
  });

  it('takes the start of the window in and leaves its end out', async () => {
    const records = [NOW - 2_000, NOW - 1_000, NOW].map((firstAttemptAt) => deliveryRecord({ firstAttemptAt }));
    const { request } = await build({ history: historyOf(records) });
    const window = `startDate=${new Date(NOW - 2_000).toISOString()}&endDate=${new Date(NOW).toISOString()}`;

    const answer = await request(`${PATH}?${window}`);

    expect(pageOf(answer).events.map((e) => e.event_id)).toEqual([records[0]?.eventId, records[1]?.eventId]);
  });

  it('shows nothing older than the retention for any window', async () => {
    const old = deliveryRecord({ firstAttemptAt: NOW - RETENTION_MS - 1 });
    const kept = deliveryRecord({ firstAttemptAt: NOW - RETENTION_MS });
    const { request } = await build({ history: historyOf([old, kept]) });

    const answer = await request(`${PATH}?startDate=1999-01-01T00:00:00Z&endDate=2027-01-01T00:00:00Z`);

    expect(pageOf(answer).events.map((e) => e.event_id)).toEqual([kept.eventId]);
  });

  it('answers an empty page for a window wholly before the retention', async () => {
    const { request } = await build();
    const answer = await request(`${PATH}?startDate=1999-01-01T00:00:00Z&endDate=2000-01-01T00:00:00Z`);
    expect([answer.status, answer.body]).toEqual([200, { events: [], next_page_state: null }]);
  });

  it.each(['teleport', 'Position', 'position,ignition_on', '\u{1f69a}'.repeat(64)])(
    'answers an empty page for the event type %j, which does not exist',
    async (type) => {
      const { request } = await build({ history: historyOf([deliveryRecord({ firstAttemptAt: NOW - 1 })]) });
      const answer = await request(`${PATH}?${WINDOW}&eventType=${encodeURIComponent(type)}`);
      expect([answer.status, answer.body]).toEqual([200, { events: [], next_page_state: null }]);
    },
  );

  it('gives no next page when the limit is met exactly', async () => {
    const { request } = await build({ history: historyOf([deliveryRecord({ firstAttemptAt: NOW - 1 })]) });
    expect(pageOf(await request(`${PATH}?${WINDOW}&limit=1`)).next_page_state).toBeNull();
  });

  it('never shows what belongs to another fleet', async () => {
    const { request, addKey } = await build({ history: historyOf([deliveryRecord({ firstAttemptAt: NOW - 1 })]) });
    expect(pageOf(await request(`${PATH}?${WINDOW}`, { key: addKey('other') })).events).toEqual([]);
  });

  it.each([
    ['endDate=2026-04-01T00:00:00Z', ['startDate']],
    ['startDate=2026-03-01T00:00:00Z', ['endDate']],
    ['', ['startDate', 'endDate']],
    ['startDate=2026-03-01T00:00:00&endDate=2026-04-01T00:00:00Z', ['startDate']],
    ['startDate=2026-04-01T00:00:00Z&endDate=2026-04-01T00:00:00Z', ['endDate']],
    ['startDate=2026-04-01T00:00:00Z&endDate=2026-03-01T00:00:00Z', ['endDate']],
    [`${WINDOW}&eventType=position&eventType=ignition_on`, ['eventType']],
    [`${WINDOW}&eventType=`, ['eventType']],
    [`${WINDOW}&eventType=${'x'.repeat(65)}`, ['eventType']],
    [`${WINDOW}&eventType=a%0Ab`, ['eventType']],
    [`${WINDOW}&deviceId=x`, ['deviceId']],
    [`${WINDOW}&statusCode=x&limit=0`, ['statusCode', 'limit']],
  ])('answers 400 to %j and names what is wrong', async (query, parameters) => {
    const { request } = await build();
    const answer = await request(`${PATH}?${query}`);
    expect(answer.status).toBe(400);
    const error = errorOf(answer);
    expect(error.code).toBe('invalid_parameter');
    expect((error.details as { parameter: string }[]).map((detail) => detail.parameter)).toEqual(parameters);
    for (const parameter of parameters) expect(error.message).toContain(parameter);
  });
});

describe('the headers of the sunset (R-32)', () => {
  const expectThem = (answer: TestAnswer): void => {
    expect(answer.headers.get('deprecation')).toBe('true');
    expect(answer.headers.get('sunset')).toBe('Tue, 25 Aug 2026 23:59:59 GMT');
    expect(answer.headers.get('link')).toBe('</public/v2/events>; rel="successor-version"');
  };

  it('are on every response, including errors', async () => {
    let failing = false;
    const { findDeliveries, findWaiting, findEvent } = historyOf([]);
    const history: DeliveryHistory = {
      findWaiting,
      findEvent,
      findDeliveries: (query) => (failing ? Promise.reject(new Error('a bug')) : findDeliveries(query)),
    };
    const { request, addKey } = await build({ history });
    const answers: [number, TestAnswer][] = [
      [200, await request(`${PATH}?${WINDOW}`)],
      [200, await request(`${PATH}?${WINDOW}`, { method: 'HEAD' })],
      [200, await request(`${PATH.toUpperCase()}/?${WINDOW}`)],
      [400, await request(PATH)],
      [400, await request(`${PATH}?${WINDOW}&pageState=x`)],
      [401, await request(`${PATH}?${WINDOW}`, { key: null })],
      [401, await request(`${PATH}?${WINDOW}`, { key: 'wp_unknown' })],
      [403, await request(`${PATH}?${WINDOW}`, { key: addKey('acme', ['subscriptions:read']) })],
      [404, await request(`${PATH}/more`)],
      [405, await request(PATH, { method: 'POST', raw: '{"malformed' })],
      [405, await request(PATH, { method: 'DELETE' })],
      [405, await request(PATH, { method: 'OPTIONS' })],
    ];
    failing = true;
    answers.push([500, await request(`${PATH}?${WINDOW}`)]);
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status);
      expectThem(answer);
    }
  });

  it('are in an answer over the rate limit', async () => {
    const { request } = await build({ rateLimit: { perSecond: 1, burst: 1 } });
    await request(`${PATH}?${WINDOW}`);
    const answer = await request(`${PATH}?${WINDOW}`);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
    expectThem(answer);
  });

  it('stay on the 410 of the switch, which needs no key', async () => {
    const { request } = await build({ v1Gone: true });
    for (const answer of [await request(`${PATH}?${WINDOW}`), await request(PATH, { key: null })]) {
      expect(answer.status).toBe(410);
      expect(errorOf(answer).code).toBe('gone');
      expectThem(answer);
    }
    expect((await request('/public/v2/events')).status).toBe(200);
  });

  it('are not on the successor', async () => {
    const { request } = await build();
    expect((await request('/public/v2/events')).headers.has('deprecation')).toBe(false);
  });
});
