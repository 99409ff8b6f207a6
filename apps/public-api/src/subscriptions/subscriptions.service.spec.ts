import { describe, expect, it } from '@jest/globals';
import { formatCredential, hashApiKey } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { refusalOf, startTestApiPerTest } from '../testing/test-api.js';
import type { UrlCheck } from './subscriber-urls.js';

const open = startTestApiPerTest();
const { id } = subscriptionOf();

/** Whatever is on internal.example may not be called. */
function checkUrl(url: string): Promise<UrlCheck> {
  const isRefused = new URL(url).hostname === 'internal.example';
  return Promise.resolve(isRefused ? { type: 'refused', message: 'is internal' } : { type: 'accepted' });
}

/** An API that stores changes, and publishes them to the senders only where `isPublished` says so. */
async function patch(body: object, { isPublished = false, type = 'changed' } = {}) {
  const waitedFor: (readonly string[])[] = [];
  const subscription = subscriptionOf({ ...body, fleetId: 'acme', version: 2 });
  const update = () => Promise.resolve({ type, subscription, outboxIds: ['7'] });
  const api = await open({
    store: { subscriptions: { update } } as unknown as Partial<ManagementStore>,
    checkUrl,
    untilPublished: (ids) => {
      waitedFor.push(ids);
      return Promise.resolve(isPublished);
    },
  });
  const answer = await api.request(`/public/v1/webhook-subscriptions/${id}`, { method: 'PATCH', json: body });
  return { answer, waitedFor };
}

describe('a change of a URL that may not be called (R-18)', () => {
  const auth = { type: 'bearer', clientId: 'c', clientSecret: 's' };

  it.each([
    ['url', { url: 'https://internal.example/hook' }],
    ['auth.tokenUrl', { auth: { ...auth, tokenUrl: 'https://internal.example/token' } }],
  ])('is refused, of %s too', async (field, body) => {
    const { answer, waitedFor } = await patch(body);
    expect(waitedFor).toEqual([]);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_body', details: [{ field }] } } });
  });

  it('is made where both may be called', async () => {
    const body = { url: 'https://receiver.example/hook', auth: { ...auth, tokenUrl: 'https://id.example/token' } };
    expect((await patch(body)).answer.status).toBe(200);
  });
});

describe('a change after which nothing may be sent (R-16)', () => {
  it.each(['paused', 'disabled'])('to %s is answered with 200 when the senders have it', async (status) => {
    const { answer, waitedFor } = await patch({ status }, { isPublished: true });
    expect(answer).toMatchObject({ status: 200, body: { status } });
    expect(waitedFor).toEqual([['7']]);
  });

  it.each(['paused', 'disabled'])(
    'to %s is not, as long as they may not have it: the answer says that it is stored, and when to ask again',
    async (status) => {
      const { answer } = await patch({ status });
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'not_in_effect_yet' } } });
      expect(answer.headers.get('retry-after')).toBe('2');
    },
  );

  it('is not answered with 200 either when it is asked for again and still on its way', async () => {
    const { answer } = await patch({ status: 'paused' }, { type: 'unchanged' });
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'not_in_effect_yet' } } });
  });

  it.each([{ status: 'active' }, { description: 'the yard' }])('is not one to %j', async (body) => {
    expect((await patch(body)).answer.status).toBe(200);
  });
});

describe('a change to a URL that is taken (R-16, R-42)', () => {
  const taken = '2a6a2c56-7d55-4a1a-8d3e-0e6f3a0c9b11';
  const token = formatCredential('portalToken', Buffer.alloc(32, 7));

  /** What a caller hears: the key of the fleet, or a portal session with these subscriptions. */
  async function detailsFor(subscriptionIds: readonly string[] | null): Promise<unknown> {
    const session = { id: 's', fleetId: 'acme', hash: hashApiKey(token), adminKeyId: null, subscriptionIds };
    const whole = { ...session, scopes: ['subscriptions:write'], expiresAt: Date.now() + 600_000 };
    const store = {
      portalSessions: { find: () => Promise.resolve(whole) },
      subscriptions: { update: () => Promise.resolve({ type: 'conflict', id: taken }) },
    };
    const { request } = await open({ store: store as unknown as Partial<ManagementStore>, checkUrl });
    const json = { url: 'https://receiver.example/hook' };
    const key = subscriptionIds === null ? {} : { key: token };
    const answer = await request(`/public/v1/webhook-subscriptions/${id}`, { method: 'PATCH', json, ...key });
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    return (answer.body as { error: { details: unknown } }).error.details;
  }

  it.each([
    ['to the fleet', null],
    ['to a portal session that has it too', [id, taken]],
  ])('names the subscription that has it %s', async (_, subscriptionIds) => {
    expect(await detailsFor(subscriptionIds)).toEqual([expect.objectContaining({ conflictingId: taken })]);
  });

  it('does not name it to a portal session that may not see it', async () => {
    expect(JSON.stringify(await detailsFor([id]))).not.toContain(taken);
  });
});
