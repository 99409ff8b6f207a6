import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationalEvent } from '@waypost/domain';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';
const NOW = Date.UTC(2026, 2, 20, 12);

let id: string;
const suite = useTestFleet();
beforeEach(async () => {
  const answer = await suite.send('POST', PATH, { eventType: 'position', url: 'https://receiver.example/hook' });
  id = (answer.body as { data: { id: string }[] }).data[0]?.id ?? '';
});

interface Page {
  data: { id: string }[];
  nextPageState: string | null;
}
function operationalEvent(given: Partial<OperationalEvent> = {}): OperationalEvent {
  return {
    id: randomUUID(),
    subscriptionId: id,
    fleetId: suite.fleetId,
    type: 'exhausted',
    occurredAt: NOW,
    reason: 'The endpoint answered 503 five times.',
    eventId: null,
    deliveryOffset: 3,
    statusCode: null,
    errorCode: null,
    ...given,
  };
}
async function pageOf(query = ''): Promise<Page> {
  return (await suite.api.request(`${PATH}/${id}/operations${query}`, { key: suite.key })).body as Page;
}

describe('GET /public/v1/webhook-subscriptions/{id}/operations', () => {
  it('shows what happened, newest first, without unknown fields', async () => {
    const failed = operationalEvent({ eventId: randomUUID(), statusCode: 503 });
    const held = operationalEvent({
      type: 'suspended',
      reason: 'No answer.',
      errorCode: 'timeout',
      occurredAt: NOW + 1,
    });
    await suite.store.operationalEvents.keep([failed, held]);
    expect(await pageOf()).toEqual({
      data: [
        {
          id: held.id,
          type: 'suspended',
          occurredAt: '2026-03-20T12:00:00.001Z',
          reason: 'No answer.',
          error: 'timeout',
        },
        {
          id: failed.id,
          type: 'exhausted',
          occurredAt: '2026-03-20T12:00:00.000Z',
          reason: 'The endpoint answered 503 five times.',
          eventId: failed.eventId,
          statusCode: 503,
        },
      ],
      nextPageState: null,
    });
  });

  it('is empty for a subscription without any, and not found for another fleet or after the deletion', async () => {
    expect(await pageOf()).toEqual({ data: [], nextPageState: null });
    await suite.store.operationalEvents.keep([operationalEvent()]);
    const path = `${PATH}/${id}/operations`;
    expect((await suite.api.request(path, { key: suite.api.addKey('other') })).status).toBe(404);
    await suite.api.request(`${PATH}/${id}`, { method: 'DELETE', key: suite.key });
    expect((await suite.api.request(path, { key: suite.key })).status).toBe(404);
    expect((await suite.api.request(`${PATH}/nonsense/operations`, { key: suite.key })).status).toBe(404);
  });

  it('walks all of them, each once, while others come', async () => {
    const events = [5, 5, 5, 2, 9].map((ms) => operationalEvent({ occurredAt: NOW + ms }));
    await suite.store.operationalEvents.keep(events);
    const walked: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const page = await pageOf(query);
      walked.push(...page.data.map((one) => one.id));
      await suite.store.operationalEvents.keep([operationalEvent({ occurredAt: NOW + 100 })]);
      if (page.nextPageState === null) break;
      query = `?limit=2&pageState=${page.nextPageState}`;
    }
    const newestFirst = events
      .sort((a, b) => b.occurredAt - a.occurredAt || (a.id < b.id ? 1 : -1))
      .map((event) => event.id);
    expect(walked).toEqual(newestFirst);
  });

  it("refuses another subscription's page token, and parameters that it does not have", async () => {
    await suite.store.operationalEvents.keep([operationalEvent(), operationalEvent()]);
    const { nextPageState } = await pageOf('?limit=1');
    const json = { eventType: 'ignition_on', url: 'https://receiver.example/hook' };
    const made = await suite.api.request(PATH, { method: 'POST', key: suite.key, json });
    const other = (made.body as { data: { id: string }[] }).data[0]?.id ?? '';
    const answer = await suite.api.request(`${PATH}/${other}/operations?pageState=${String(nextPageState)}`, {
      key: suite.key,
    });
    expect(answer.body).toMatchObject({ error: { code: 'page_state_other_query' } });
    for (const query of ['limit=0', 'limit=1001', 'type=disabled']) {
      expect((await suite.api.request(`${PATH}/${id}/operations?${query}`, { key: suite.key })).status).toBe(400);
    }
  });

  it('requires the scope to read subscriptions', async () => {
    const poor = suite.api.addKey(suite.fleetId, ['events:read', 'subscriptions:write']);
    expect((await suite.api.request(`${PATH}/${id}/operations`, { key: poor })).status).toBe(403);
  });
});

describe('a disabled subscription', () => {
  it('is shown with its reason, and switched on again by its owner', async () => {
    await suite.store.subscriptions.disable(
      operationalEvent({ type: 'disabled', reason: 'Failing since 13 March.' }),
      NOW,
    );
    const shown = (await suite.api.request(`${PATH}/${id}`, { key: suite.key })).body;
    expect(shown).toMatchObject({ status: 'disabled', disabledReason: 'Failing since 13 March.' });

    const answer = await suite.api.request(`${PATH}/${id}`, {
      method: 'PATCH',
      key: suite.key,
      json: { status: 'active' },
    });
    expect(answer.body).toMatchObject({ status: 'active' });
    expect(answer.body).not.toHaveProperty('disabledReason');
  });
});
