import { beforeEach, describe, expect, it } from '@jest/globals';
import { DAY_MS } from '@waypost/domain';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import type { TestAnswer } from '../testing/test-api.js';
import { useTestFleet } from '../testing/test-fleet.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const WINDOW = { startDate: '2026-03-18T00:00:00Z', endDate: '2026-03-19T00:00:00Z' };

const suite = useTestFleet({ fleetLimits: { startedReplays: 4 } });
const { send } = suite;
let ids: readonly string[];
beforeEach(async () => {
  const json = { eventTypes: ['position', 'ignition_on', 'ignition_off'], url: 'https://receiver.example/hook' };
  ids = ((await send('POST', SUBSCRIPTIONS, json)).body as { data: { id: string }[] }).data.map(({ id }) => id);
});

const start = (id = ids[0] ?? ''): Promise<TestAnswer> => send('POST', `${SUBSCRIPTIONS}/${id}/replays`, WINDOW);

/** Each is over at once. */
async function startOver(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    expect((await start()).status).toBe(202);
    await suite.sql.query("UPDATE webhook_replays SET progress_state = 'completed' WHERE fleet_id = $1", [
      suite.fleetId,
    ]);
  }
}

async function replaysInOutbox(): Promise<number | undefined> {
  const text = "SELECT count(*)::int AS count FROM outbox WHERE kind = 'webhook-replay' AND partition_key = ANY ($1)";
  return (await suite.sql.query<{ count: number }>(text, [ids])).rows[0]?.count;
}

describe('the replays that a fleet may start in a day (R-30)', () => {
  it('are not exceeded by concurrent requests for several subscriptions', async () => {
    await startOver(3);
    await suite.sql.query('BEGIN');
    // Each creation needs it after it has counted.
    await suite.sql.query('LOCK TABLE webhook_replay_series IN ACCESS EXCLUSIVE MODE');
    const requests = ids.map((id) => start(id));
    await untilWaitingForLocks(suite.sql, requests.length);
    await suite.sql.query('ROLLBACK');
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: {
        code: 'too_many_replays_per_day',
        message: 'This would exceed the limit of the fleet for replays and resends in a day (UTC).',
        details: [{ message: 'would add 1' }],
        requestId: expect.any(String) as unknown,
      },
    });
    expect(await replaysInOutbox()).toBe(4);
  });

  it('are those that are over, too, until the day is', async () => {
    await startOver(4);
    expect((await start(ids[1])).status).toBe(409);
    suite.nowMs += DAY_MS / 2 - 1;
    expect((await start(ids[1])).status).toBe(409);
    suite.nowMs += 1;
    expect((await start(ids[1])).status).toBe(202);
  });

  it('are counted for each fleet by itself', async () => {
    await startOver(4);
    const fleetId = `${suite.fleetId}-other`;
    await suite.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: suite.nowMs });
    const key = suite.api.addKey(fleetId);
    const post = (path: string, json: object) => suite.api.request(path, { method: 'POST', key, json });
    const made = await post(SUBSCRIPTIONS, { eventType: 'position', url: 'https://receiver.example/hook' });
    const id = (made.body as { data: { id: string }[] }).data[0]?.id ?? '';
    expect((await post(`${SUBSCRIPTIONS}/${id}/replays`, WINDOW)).status).toBe(202);
  });
});
