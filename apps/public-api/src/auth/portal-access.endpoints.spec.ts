import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatCredential, hashApiKey } from '@waypost/domain';
import { type ManagementStore, PORTAL_SCOPES } from '@waypost/management-store';
import { deliveryRecord, historyOf } from '../testing/delivery-records.js';
import { type DocumentedOperation, filled, securedOperations } from '../testing/documented-operations.js';
import { finishedLog } from '../testing/finished-log.js';
import { startTestApi, type TestApi } from '../testing/test-api.js';
import { bodyOf } from '../testing/two-fleets.js';
import { attemptOf, NOW, SUBSCRIPTIONS } from '../testing/walked-deliveries.js';

const [OWN = '', OTHER = ''] = SUBSCRIPTIONS;
const TOKEN = formatCredential('portalToken', Buffer.alloc(32, 1));
const WINDOW = `startDate=${new Date(NOW - 86_400_000).toISOString()}&endDate=${new Date(NOW).toISOString()}`;

const [own, other] = [OWN, OTHER].map((subscriptionId) =>
  deliveryRecord({ subscriptionId, deviceId: `device-of-${subscriptionId}`, firstAttemptAt: NOW - 60_000 }),
);
const attempts = [OWN, OTHER].map((subscription, event) =>
  attemptOf(
    'acme',
    {
      event,
      series: 0,
      device: `device-of-${subscription}`,
      type: 'position',
      subscription,
      firstAttemptAt: NOW - 60_000,
      answers: [200],
    },
    1,
  ),
);
const MARKS = [OTHER, other?.eventId ?? '', attempts[1]?.eventId ?? ''];

let api: TestApi;
beforeAll(async () => {
  const session = {
    id: randomUUID(),
    adminKeyId: null,
    fleetId: 'acme',
    hash: hashApiKey(TOKEN),
    scopes: PORTAL_SCOPES,
  };
  const portalSessions = {
    find: (hash: Buffer) =>
      Promise.resolve(
        hash.equals(session.hash) ? { ...session, subscriptionIds: [OWN], expiresAt: NOW + 60_000 } : null,
      ),
    get: () => Promise.resolve(null),
  };
  // Nothing else is given: an endpoint that went on to another store would answer 500.
  api = await startTestApi({
    now: () => NOW,
    history: historyOf([own, other].flatMap((record) => record ?? [])),
    attemptLog: finishedLog(attempts),
    store: {
      portalSessions,
      subscriptions: { list: () => Promise.resolve({ rows: [], hasMore: false }) },
    } as unknown as Partial<ManagementStore>,
  });
});
afterAll(async () => {
  await api.close();
  expect(api.errors).toEqual([]);
});

function urlsAbout({ placeholders, queryNames, ...operation }: DocumentedOperation): string[] {
  const ids = placeholders.map((placeholder) => {
    if (placeholder === '{eventId}') return other?.eventId ?? '';
    return placeholder === '{id}' ? OTHER : randomUUID();
  });
  const path = filled({ placeholders, queryNames, ...operation }, ids);
  const values = { subscriptionId: OTHER, eventId: other?.eventId ?? '', deviceId: `device-of-${OTHER}` };
  const named = Object.entries(values).filter(([name]) => queryNames.includes(name));
  const required = queryNames.includes('startDate') ? `${WINDOW}&` : '';
  return ['', ...named.map(([name, value]) => `${name}=${value}`)].map((query) =>
    required + query === '' ? path : `${path}?${required}${query}`,
  );
}

describe('a portal session with one subscription (R-42)', () => {
  it.each(securedOperations.map((one) => [`${one.method} ${one.path}`, one] as const))(
    'learns nothing of another one by %s',
    async (_name, operation) => {
      const json = bodyOf(operation);
      for (const url of urlsAbout(operation)) {
        const answer = await api.request(url, { method: operation.method, key: TOKEN, json });
        const allowed = operation.placeholders.length > 0 ? [403, 404] : [200, 403];
        expect([url, answer.status, allowed.includes(answer.status)]).toEqual([url, answer.status, true]);
        const text = JSON.stringify(answer.body);
        expect([url, MARKS.filter((mark) => text.includes(mark))]).toEqual([url, []]);
      }
    },
  );

  it.each(['/public/v2/events', `/public/v1/webhook-events?${WINDOW}`, `/public/v2/events/${own?.eventId ?? ''}`])(
    'sees its own deliveries at %s',
    async (path) => {
      const { status, body } = await api.request(path, { key: TOKEN });
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain(OWN);
    },
  );

  it('follows its own attempts', async () => {
    const { body } = await api.request('/public/v2/stream', { key: TOKEN });
    expect(String(body).match(/^event: attempt$/gm)).toHaveLength(1);
    expect(String(body)).toContain(OWN);
  });

  it('goes on with no page of the whole fleet (R-34)', async () => {
    const path = `/public/v2/events?limit=1`;
    const { body } = await api.request(path);
    const { nextPageState } = body as { nextPageState: string };
    const answer = await api.request(`${path}&pageState=${nextPageState}`, { key: TOKEN });
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'page_state_other_query' } }]);
  });
});
