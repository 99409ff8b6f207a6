import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliveryRecord, historyOf } from './testing/delivery-records.js';
import { startTestApi, type TestAnswer, type TestApi } from './testing/test-api.js';

const V1 = '/public/v1/webhook-events';
const V2 = '/public/v2/events';
const NOW = Date.UTC(2026, 2, 20, 12);
const WINDOW = 'startDate=2026-03-20T11:00:00Z&endDate=2026-03-20T13:00:00Z';
/** A record a minute, from 11:50 to 11:59. */
const records = Array.from({ length: 10 }, (_, minute) =>
  deliveryRecord({ firstAttemptAt: Date.UTC(2026, 2, 20, 11, 50 + minute) }),
);

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ history: historyOf(records), now: () => NOW });
});
afterAll(async () => {
  await api.close();
});

async function foundBy(path: string): Promise<number> {
  const answer = await api.request(path);
  expect([path, answer.status]).toEqual([path, 200]);
  const body = answer.body as { events?: unknown[]; data?: unknown[] };
  return (body.events ?? body.data ?? []).length;
}
function problemsOf(answer: TestAnswer) {
  return (answer.body as { error: { code: string; details: { parameter: string; message: string }[] } }).error;
}

describe('instants of a window', () => {
  it('may lie in the future, to the end of the year 9999', async () => {
    expect(await foundBy(`${V1}?startDate=2026-03-20T11:55:00Z&endDate=9999-12-31T23:59:59.999Z`)).toBe(5);
    expect(await foundBy(`${V2}?endDate=9999-12-31T23:59:59.999Z`)).toBe(10);
    expect(await foundBy(`${V2}?startDate=2027-01-01T00:00:00Z`)).toBe(0);
  });
});

describe('queries', () => {
  it.each([
    ['an unknown parameter', 'since=1', ['since']],
    ['a parameter in another case', 'Limit=1', ['Limit']],
    ['a parameter in brackets', 'limit[]=1', ['limit[]']],
    ['a parameter without a name', '=1', ['']],
    ['a parameter that every object has', '__proto__=1', ['__proto__']],
    ['a repeated parameter', 'limit=1&limit=2', ['limit']],
    ['a repeated parameter with an encoded name', 'limit=1&%6Cimit=2', ['limit']],
    ['a parameter without a value', 'statusCode', ['statusCode']],
    ['an empty parameter', 'eventType=', ['eventType']],
    ['a NUL', 'eventType=position%00', ['eventType']],
    ['a lone surrogate', 'eventType=%ED%A0%80', ['eventType']],
    ['text that is not UTF-8', 'pageState=%C3%28', ['pageState']],
    ['half an escape', 'pageState=abc%2', ['pageState']],
    ['a list with commas', 'status=pending,failed', ['status']],
    ['a status in another case', 'status=Pending', ['status']],
    ['limit 0', 'limit=0', ['limit']],
    ['limit 2001', 'limit=2001', ['limit']],
    ['a limit with a sign', 'limit=%2B5', ['limit']],
    ['a limit in exponents', 'limit=1e2', ['limit']],
    ['a limit in spaces', 'limit=%2010', ['limit']],
    ['a limit too long for a number', `limit=${'9'.repeat(400)}`, ['limit']],
    ['statusCode 99', 'statusCode=99', ['statusCode']],
    ['statusCode 1000', 'statusCode=1000', ['statusCode']],
    ['a class of status codes', 'statusCode=5xx', ['statusCode']],
    ['everything at once', 'limit=0&statusCode=x&q=1', ['q', 'statusCode', 'limit']],
  ])('are refused for %s, and the answer names it', async (_, query, parameters) => {
    for (const path of [`${V1}?${WINDOW}&${query}`, `${V2}?${query}`]) {
      const answer = await api.request(path);
      expect([path, answer.status]).toEqual([path, 400]);
      const { code, details } = problemsOf(answer);
      expect([code, details.map(({ parameter }) => parameter)]).toEqual(['invalid_parameter', parameters]);
    }
  });

  it.each([
    ['limit 1', 'limit=1', 1],
    ['limit 2000', 'limit=2000', 10],
    ['leading zeros', 'limit=0003', 3],
    ['escapes where none are needed', '%6C%69mit=%33', 3],
    ['empty pairs', '&&limit=3&', 3],
    ['a list with commas, which no type is', 'eventType=position,ignition_on', 0],
    ['a type in another case, which is another', 'eventType=Position', 0],
    ['the lowest status code', 'statusCode=100', 0],
    ['the highest status code', 'statusCode=999', 0],
  ])('are taken with %s', async (_, query, found) => {
    expect(await foundBy(`${V1}?${WINDOW}&${query}`)).toBe(found);
    expect(await foundBy(`${V2}?${query}`)).toBe(found);
  });

  it('of version 2 take an event type often, and again', async () => {
    expect(await foundBy(`${V2}?eventType=ignition_on&eventType=position&eventType=position`)).toBe(10);
  });

  it('count the characters of a device as people do', async () => {
    expect(await foundBy(`${V2}?deviceId=${encodeURIComponent('🚚'.repeat(256))}`)).toBe(0);
    expect((await api.request(`${V2}?deviceId=${encodeURIComponent('🚚'.repeat(257))}`)).status).toBe(400);
  });

  it.each(['limit=1', WINDOW])(
    'without a page size end after 100 records, and with one after as many: %s',
    async (query) => {
      const many = Array.from({ length: 101 }, (_, index) => deliveryRecord({ firstAttemptAt: NOW - 1_000 + index }));
      const started = await startTestApi({ history: historyOf(many), now: () => NOW });
      const { body } = await started.request(`${V2}?${query}`);
      await started.close();
      const page = body as { data: unknown[]; nextPageState: string | null };
      expect(page.data).toHaveLength(query === 'limit=1' ? 1 : 100);
      expect(page.nextPageState).toEqual(expect.any(String));
    },
  );
});

describe('paths and methods', () => {
  it.each([
    ['a final slash', 'GET', `${V2}/`, 200],
    ['another case', 'GET', '/PUBLIC/V2/Events', 200],
    ['a doubled slash', 'GET', '//public/v2/events', 404],
    ['an escaped letter', 'GET', '/public/v2/%65vents', 404],
    ['something after it', 'GET', `${V2}/1`, 404],
    ['a semicolon', 'GET', `${V2};a=b`, 404],
    ['HEAD', 'HEAD', V2, 200],
    ['OPTIONS', 'OPTIONS', V2, 405],
    ['TRACE', 'TRACE', V2, 405],
    ['QUERY', 'QUERY', V2, 405],
    ['POST', 'POST', V2, 405],
  ])('with %s: %s %s is %i', async (_, method, path, status) => {
    const answer = await plainRequest(method, path);
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers['allow']).toBe('GET, HEAD');
    if (method === 'HEAD') expect([answer.body, Number(answer.headers['content-length']) > 2]).toEqual(['', true]);
  });
});

interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** With the path as it is written and any method: fetch would tidy the one and refuse some of the others. */
function plainRequest(
  method: string,
  path: string,
  { headers, body }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
): Promise<PlainAnswer> {
  const given = headers ?? { authorization: `Bearer ${api.addKey('acme')}` };
  // Node says it of its own accord only for methods that usually have a body.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const sent = httpRequest({ hostname, port, path, method, headers: { ...given, ...length } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on('error', reject).end(body);
  });
}
