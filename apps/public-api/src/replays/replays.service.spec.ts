import { describe, expect, it } from '@jest/globals';
import type { WebhookReplay } from '@waypost/domain';
import type { ManagementStore, ReplayStore, StoredReplay, SubscriptionRef } from '@waypost/management-store';
import { subscriptionOf } from '../../../../test/support/samples.js';
import { refusalOf, startTestApiPerTest } from '../testing/test-api.js';

const [ONE, OTHER] = ['0f0e6c1c-5f43-4a3c-9a52-0d6f3d2a7a11', '2a6a2c56-7d55-4a1a-8d3e-0e6f3a0c9b11'] as const;
const open = startTestApiPerTest();

function storedReplay({ fleetId, id }: SubscriptionRef, series: number): StoredReplay {
  const filters = { status: null, statusCode: null, eventType: null, deviceId: null, eventId: null };
  const times = { startDate: 0, endDate: 1, createdAt: 2, updatedAt: 2 };
  const ids = { replayId: `5b1c2f0e-0000-4000-8000-00000000000${String(series)}`, subscriptionId: id, fleetId };
  const replay: WebhookReplay = {
    ...ids,
    series,
    ...filters,
    ...times,
    ratePerSecond: 1,
    cancelled: false,
    version: 1,
  };
  return { replay, progress: null };
}

/** Every subscription of every fleet has three replays. */
function openWithReplays() {
  const store = {
    subscriptions: { get: ({ fleetId, id }: SubscriptionRef) => Promise.resolve(subscriptionOf({ fleetId, id })) },
    replays: {
      list: ({ ref, limit, beforeSeries }: Parameters<ReplayStore['list']>[0]) => {
        const newestFirst = [3, 2, 1].filter((series) => series < (beforeSeries ?? Infinity));
        return Promise.resolve(newestFirst.slice(0, limit).map((series) => storedReplay(ref, series)));
      },
    },
  };
  return open({ store: store as unknown as Partial<ManagementStore> });
}

const pathOf = (id: string, state = '') => `/public/v1/webhook-subscriptions/${id}/replays?limit=2${state}`;

describe('a page token of the replays of a subscription (R-34)', () => {
  it('goes on with them, and opens neither those of another subscription nor those of another fleet', async () => {
    const api = await openWithReplays();
    const { nextPageState } = (await api.request(pathOf(ONE))).body as { nextPageState: string };
    const state = `&pageState=${nextPageState}`;

    expect((await api.request(pathOf(ONE, state))).body).toMatchObject({ data: [{ series: 1 }], nextPageState: null });
    const other = refusalOf(await api.request(pathOf(OTHER, state)));
    expect(other).toMatchObject({ status: 400, code: 'page_state_other_query' });
    const key = api.addKey('another-fleet');
    const foreign = refusalOf(await api.request(pathOf(ONE, state), { key }));
    expect(foreign).toMatchObject({ status: 400, code: 'page_state_other_fleet' });
  });
});
