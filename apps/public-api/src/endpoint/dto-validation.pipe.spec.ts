import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deliveryRecord, historyOf } from '../testing/delivery-records.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ history: historyOf(Array.from({ length: 5 }, () => deliveryRecord())) });
});
afterAll(async () => {
  await api.close();
});

const NAMES = [
  ...['startDate', 'endDate', 'eventType', 'statusCode', 'limit', 'pageState'],
  ...['deviceId', 'subscriptionId', 'eventId', 'status', 'include', '__proto__', ''],
];
const VALUES = [
  '2026-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  '200',
  '1',
  'position',
  'body',
  '%',
  '%00',
  '+',
];

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme', maxLength: 6 }));
const value = fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'binary', maxLength: 12 }).map(urlText));
const query = fc
  .array(fc.tuple(name.map(urlText), value), { maxLength: 5 })
  .map((pairs) => pairs.map(([key, text]) => `${key}=${text}`).join('&'));

/** Lone surrogates cannot be written into a URL. */
function urlText(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '?'));
}

describe('any request', () => {
  it.each(['/public/v1/webhook-events', '/public/v2/events'])(
    'to %s is answered as documented, and never fails',
    async (path) => {
      await fc.assert(
        fc.asyncProperty(query, async (given) => {
          const answer = await api.request(`${path}?${given}`);
          expect([200, 400]).toContain(answer.status);
        }),
        { numRuns: 100 },
      );
      expect(api.errors).toEqual([]);
    },
  );

  it('with any JSON for a body is refused as documented, and never fails', async () => {
    const request = fc.oneof(
      fc.jsonValue(),
      fc.record({ url: fc.jsonValue(), eventType: fc.jsonValue(), auth: fc.jsonValue() }),
    );
    await fc.assert(
      fc.asyncProperty(request, async (json) => {
        const answer = await api.request('/public/v1/webhook-subscriptions', { method: 'POST', json });
        expect(answer.status).toBe(400);
      }),
      { numRuns: 60 },
    );
    expect(api.errors).toEqual([]);
  });
});
