import { describe, expect, it } from '@jest/globals';
import { historyEvents, historyQuery } from '../commands/history.js';
import { createSubscriptions } from '../commands/subscribe.js';
import { createApiClient } from './api-client.js';

function build(...answers: readonly { readonly status?: number; readonly body: unknown }[]) {
  const requests: { url: string; init: RequestInit & { body?: string } }[] = [];
  const send = ((url: string, init: RequestInit & { body?: string }) => {
    const { status = 200, body } = answers[requests.length] ?? { status: 500, body: 'no answer left' };
    requests.push({ url, init });
    return Promise.resolve(new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }));
  }) as typeof fetch;
  const api = createApiClient({ apiUrl: 'http://api:8080/', apiKey: 'wp_key', fetch: send });
  return { api, requests };
}

const filters = {
  from: 1_000,
  to: 2_000,
  types: ['position', 'ignition_on'],
  device: 'bus-7',
  subscription: null,
  status: 'failed',
  statusCode: '503',
  now: () => 5_000,
};

describe('The API client', () => {
  it('speaks as its fleet', async () => {
    const { api, requests } = build({ body: { data: [] } });
    await api.get('/public/v2/events', new URLSearchParams({ limit: '5' }));
    expect(requests[0]?.url).toBe('http://api:8080/public/v2/events?limit=5');
    expect(requests[0]?.init.headers).toMatchObject({ authorization: 'Bearer wp_key' });
  });

  it('hands on what the API says of a refusal', async () => {
    const error = { code: 'invalid_body', message: 'The body is not valid.', details: [{ field: 'url' }] };
    const { api } = build({ status: 400, body: { error } });
    await expect(api.post('/x', {})).rejects.toThrow('(400): The body is not valid. [{"field":"url"}]');
  });

  it('reports an unreachable API', async () => {
    const api = createApiClient({
      apiUrl: 'http://api',
      apiKey: 'k',
      fetch: () => Promise.reject(new Error('connect ECONNREFUSED')),
    });
    await expect(api.post('/x', {})).rejects.toThrow('The API at http://api does not respond: connect ECONNREFUSED.');
  });
});

describe('Subscribing', () => {
  const created = { id: '1', eventType: 'position', url: 'https://x', secret: 'whsec_a', status: 'active' };

  it('requests all event types at once, and prints the fields that scripts need', async () => {
    const { api, requests } = build({ status: 201, body: { data: [created] } });
    const wanted = { url: 'https://x', eventTypes: ['position'], deviceIds: ['bus-7'] };
    const { status: _status, ...kept } = created;
    expect(await createSubscriptions(api, wanted)).toEqual([kept]);
    expect(JSON.parse(requests[0]?.init.body ?? '')).toEqual(wanted);
  });

  it('names no devices when all are meant', async () => {
    const { api, requests } = build({ status: 201, body: { data: [] } });
    await createSubscriptions(api, { url: 'https://x', eventTypes: ['position'], deviceIds: [] });
    expect(JSON.parse(requests[0]?.init.body ?? '')).toEqual({ url: 'https://x', eventTypes: ['position'] });
  });
});

describe('The history', () => {
  it('is asked for by the given filters', () => {
    expect(historyQuery(filters).toString()).toBe(
      'startDate=1970-01-01T00%3A00%3A01.000Z&endDate=1970-01-01T00%3A00%3A02.000Z&limit=500' +
        '&eventType=position&eventType=ignition_on&deviceId=bus-7&status=failed&statusCode=503',
    );
  });

  it('is that of the retention until now, when no time is given', () => {
    const query = historyQuery({ ...filters, from: null, to: null, now: () => Date.UTC(2026, 0, 20) });
    expect(query.get('startDate')).toBe('2026-01-05T00:00:00.001Z');
    expect(query.get('endDate')).toBe('2026-01-20T00:00:00.001Z');
  });

  it('is walked page by page with the same filters', async () => {
    const { api, requests } = build(
      { body: { data: [1, 2], nextPageState: 's' } },
      { body: { data: [3], nextPageState: null } },
    );
    const events: unknown[] = [];
    for await (const event of historyEvents(api, new URLSearchParams({ limit: '2' }))) events.push(event);
    expect(events).toEqual([1, 2, 3]);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual(['?limit=2', '?limit=2&pageState=s']);
  });
});
