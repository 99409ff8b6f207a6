import { describe, expect, it } from '@jest/globals';
import { type DeliveryHistory, RETENTION_MS } from '@waypost/domain';
import { deliveryRecord, historyOf, waitingDelivery } from '../testing/delivery-records.js';
import { type EventPage, idsOf, pageOf } from '../testing/event-pages.js';
import { refusalOf, startTestApiPerTest, type TestApi } from '../testing/test-api.js';

const PATH = '/public/v2/events';
const NOW = Date.UTC(2026, 2, 20, 12);

const build = startTestApiPerTest({ now: () => NOW });

describe('page tokens (R-34)', () => {
  const records = Array.from({ length: 4 }, (_, index) => deliveryRecord({ firstAttemptAt: NOW - 100 + index }));
  const FILTER = 'eventType=position&eventType=ignition_on';

  async function firstToken(started: TestApi): Promise<string> {
    const { nextPageState } = pageOf(await started.request(`${PATH}?${FILTER}&limit=2`));
    if (nextPageState === null) throw new Error('the first page should not be the last');
    return nextPageState;
  }

  it('continue the same query, with its parameters in any order and any limit', async () => {
    const started = await build({ history: historyOf(records) });
    const token = await firstToken(started);
    const query = `limit=1&eventType=ignition_on&eventType=position&eventType=position&pageState=${token}&include=body`;
    expect(idsOf(await started.request(`${PATH}?${query}`))).toEqual([records[2]?.eventId]);
  });

  it('are refused with a code of their own for each reason', async () => {
    let nowMs = NOW;
    const started = await build({ history: historyOf(records), now: () => nowMs });
    const token = await firstToken(started);
    const forged = token.slice(0, -3) + (token.endsWith('AAA') ? 'BBB' : 'AAA');
    const newer = Buffer.concat([Buffer.of(200), Buffer.from(token, 'base64url').subarray(1)]).toString('base64url');
    const refused = async (query: string, key?: string) => {
      const answer = await started.request(`${PATH}?${query}`, key === undefined ? {} : { key });
      expect(answer.status).toBe(400);
      return refusalOf(answer).code;
    };

    expect(await refused(`${FILTER}&pageState=${token.slice(0, 20)}`)).toBe('page_state_invalid');
    expect(await refused(`${FILTER}&pageState=hello!`)).toBe('page_state_invalid');
    expect(await refused(`${FILTER}&pageState=${forged}`)).toBe('page_state_forged');
    expect(await refused(`${FILTER}&pageState=${newer}`)).toBe('page_state_outdated');
    expect(await refused(`${FILTER}&pageState=${token}`, started.addKey('other'))).toBe('page_state_other_fleet');
    expect(await refused(`eventType=position&pageState=${token}`)).toBe('page_state_other_query');
    expect(await refused(`${FILTER}&statusCode=200&pageState=${token}`)).toBe('page_state_other_query');
    expect(await refused(`${FILTER}&payload=a:1&pageState=${token}`)).toBe('page_state_other_query');
    nowMs += 24 * 3_600_000;
    expect(await refused(`${FILTER}&pageState=${token}`)).toBe('page_state_expired');
  });

  it('of version 2 do not open version 1', async () => {
    const started = await build({ history: historyOf(records) });
    const window = 'startDate=2026-03-01T00:00:00Z&endDate=2026-04-01T00:00:00Z';
    const page = pageOf(await started.request(`${PATH}?${window}&limit=1`));
    const answer = await started.request(`/public/v1/webhook-events?${window}&pageState=${String(page.nextPageState)}`);
    expect([answer.status, refusalOf(answer).code]).toEqual([400, 'page_state_other_query']);
  });

  it('keep a walk complete if it began before its oldest records passed the retention', async () => {
    let nowMs = NOW;
    const old = Array.from({ length: 4 }, (_, index) => deliveryRecord({ firstAttemptAt: NOW - RETENTION_MS + index }));
    const started = await build({ history: historyOf(old), now: () => nowMs });
    const first = pageOf(await started.request(`${PATH}?limit=2`));
    nowMs += 60_000;
    const second = await started.request(`${PATH}?limit=2&pageState=${String(first.nextPageState)}`);
    expect(idsOf(second)).toEqual([old[2]?.eventId, old[3]?.eventId]);
  });

  /** The different `completeUntil` of a walk whose first page and later pages find the history that complete. */
  async function walked(path: string, first: number | null, later: number | null): Promise<(string | null)[]> {
    const eventId = '5b3f0f5e-9c1d-4c52-8a57-0d6a1c7e2b10';
    const given = { body: '{"a":1}', status: 'pending' as const };
    const sent = [0, 1, 2].map((series) =>
      deliveryRecord({ ...given, eventId, series, firstAttemptAt: NOW - 100 + series }),
    );
    const held = historyOf(sent, { waiting: [waitingDelivery(given), waitingDelivery(given)] });
    let completeUntil = first;
    const history: DeliveryHistory = {
      findDeliveries: async (query) => ({ ...(await held.findDeliveries(query)), completeUntil }),
      findWaiting: async (query) => ({ ...(await held.findWaiting(query)), completeUntil }),
      findEvent: async (query) => ({ ...(await held.findEvent(query)), completeUntil }),
    };
    const started = await build({ history });
    const url = `${PATH}${path.replace('{eventId}', eventId)}`;
    const seen = new Set<string | null>();
    for (let token: string | null = ''; token !== null; completeUntil = later) {
      const page: EventPage = pageOf(await started.request(`${url}${token}`));
      seen.add(page.completeUntil);
      token = page.nextPageState === null ? null : `&pageState=${page.nextPageState}`;
    }
    return [...seen];
  }

  it.each(['?limit=1', '?status=pending&limit=1', '?status=pending&payload=a:1&limit=1', '/{eventId}?limit=1'])(
    'of a walk over %s keep its `completeUntil` from growing: what is newer was not on its earlier pages (R-33)',
    async (path) => {
      const [earlier, later] = ['2026-03-20T11:58:50.000Z', '2026-03-20T11:59:00.000Z'];
      expect(await walked(path, NOW - 70_000, NOW - 60_000)).toEqual([earlier]);
      expect(await walked(path, NOW - 60_000, NOW - 70_000)).toEqual([later, earlier]);
      expect(await walked(path, NOW - 70_000, null)).toEqual([earlier, null]);
      expect(await walked(path, null, NOW - 60_000)).toEqual([null]);
    },
  );
});
