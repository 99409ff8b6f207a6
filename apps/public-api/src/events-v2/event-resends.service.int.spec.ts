import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DeliveryRecord, RETENTION_MS, type WaitingDelivery } from '@waypost/domain';
import type { ReplayDto } from '../replays/replays.dto.js';
import { deliveryRecord, historyOf, waitingDelivery } from '../testing/delivery-records.js';
import { refusalOf } from '../testing/test-api.js';
import { START_MS, useTestFleet } from '../testing/test-fleet.js';

const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const FIRST_AT = START_MS - 3_600_000;
let records: DeliveryRecord[];
let waiting: WaitingDelivery[];
let subscriptionId: string;
let event: DeliveryRecord;

const suite = useTestFleet({
  history: {
    findDeliveries: (query) => historyOf(records).findDeliveries(query),
    findWaiting: (query) => historyOf(records).findWaiting(query),
    findEvent: (query) => historyOf(records, { waiting }).findEvent(query),
  },
});
const { send } = suite;
beforeEach(async () => {
  const json = { eventType: 'position', url: `https://receiver.example/${randomUUID()}` };
  const { data } = (await send('POST', SUBSCRIPTIONS, json)).body as { data: { id: string }[] };
  subscriptionId = data[0]?.id ?? '';
  event = recordOf();
  records = [event];
  waiting = [];
  suite.waitedFor.length = 0;
});

function recordOf(given: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return deliveryRecord({ fleetId: suite.fleetId, subscriptionId, firstAttemptAt: FIRST_AT, ...given });
}
function resend({ eventId }: Pick<DeliveryRecord, 'eventId'>, headers?: Record<string, string>) {
  return send('POST', `/public/v2/events/${eventId}/resend`, undefined, headers);
}
async function publishedReplays() {
  const { rows } = await suite.sql.query(
    `SELECT value FROM outbox WHERE kind = 'webhook-replay' AND partition_key = $1 ORDER BY id`,
    [subscriptionId],
  );
  return (rows as { value: Record<string, unknown> }[]).map(({ value }) => value);
}

describe('POST /public/v2/events/{eventId}/resend (R-33)', () => {
  it.each(['delivered', 'failed', 'pending'] as const)(
    'answers 202 with a stored and published replay of that event alone: %s',
    async (status) => {
      records = [recordOf({ ...event, status }), recordOf()];
      const answer = await resend(event);
      expect(answer.status).toBe(202);
      const replay = answer.body as ReplayDto;
      const window = { startDate: new Date(FIRST_AT).toISOString(), endDate: new Date(FIRST_AT + 1).toISOString() };
      expect(replay).toMatchObject({ subscriptionId, eventId: event.eventId, series: 1, state: 'pending', ...window });
      expect(replay).not.toHaveProperty('status');
      expect((await send('GET', `${SUBSCRIPTIONS}/${subscriptionId}/replays/${replay.replayId}`)).body).toEqual(replay);
      const [published, ...others] = await publishedReplays();
      expect(others).toEqual([]);
      expect(published).toMatchObject({ eventId: event.eventId, startDate: FIRST_AT, endDate: FIRST_AT + 1 });
      expect(suite.waitedFor).toEqual([[expect.any(String)]]);
    },
  );

  it('takes the first delivery of an event that was sent again before', async () => {
    records = [event, recordOf({ ...event, series: 1, firstAttemptAt: FIRST_AT + 60_000 })];
    expect((await resend(event)).body).toMatchObject({ startDate: new Date(FIRST_AT).toISOString() });
  });

  it('makes one replay of requests with the same idempotency key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const [first, second] = [await resend(event, key), await resend(event, key)];
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([202, 202, 'true']);
    expect(second.body).toEqual(first.body);
    expect(await publishedReplays()).toHaveLength(1);
    const other = recordOf();
    records = [event, other];
    expect((await resend(other, key)).status).toBe(422);
  });

  it('refuses a fourth while three are not over', async () => {
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await resend(event));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 409]);
    expect(answers[3]).toMatchObject({ body: { error: { code: 'too_many_replays' } } });
  });

  it('refuses a test event, and a subscription that is not active', async () => {
    records = [recordOf({ ...event, eventType: 'test' })];
    expect(refusalOf(await resend(event))).toMatchObject({ status: 409, code: 'test_event' });
    records = [event];
    await send('PATCH', `${SUBSCRIPTIONS}/${subscriptionId}`, { status: 'paused' });
    expect(refusalOf(await resend(event))).toMatchObject({ status: 409, code: 'subscription_not_active' });
    expect(await publishedReplays()).toEqual([]);
  });

  it('says of an event that waits for its first attempt that it will be sent', async () => {
    records = [];
    waiting = [waitingDelivery({ fleetId: suite.fleetId, subscriptionId, createdAt: FIRST_AT })];
    const [{ eventId }] = waiting as [WaitingDelivery];
    expect(refusalOf(await resend({ eventId }))).toMatchObject({ status: 409, code: 'not_attempted_yet' });
    expect((await send('GET', `/public/v2/events/${eventId}`)).status).toBe(200);
    expect(await publishedReplays()).toEqual([]);
  });

  it('finds no event that is not there, too old, of a deleted subscription or left in later series only', async () => {
    const gone = recordOf({ subscriptionId: randomUUID() });
    const old = recordOf({ firstAttemptAt: START_MS - RETENTION_MS - 1 });
    const later = recordOf({ series: 1 });
    records = [gone, old, later];
    for (const one of [gone, old, later, event, { eventId: 'nonsense' }]) {
      expect((await resend(one)).status).toBe(404);
    }
  });

  it('finds no event of another fleet, and needs the scope to write subscriptions', async () => {
    const path = `/public/v2/events/${event.eventId}/resend`;
    const foreign = suite.api.addKey(`${suite.fleetId}-other`);
    expect((await suite.api.request(path, { method: 'POST', key: foreign })).status).toBe(404);
    const reader = suite.api.addKey(suite.fleetId, ['events:read', 'subscriptions:read']);
    expect((await suite.api.request(path, { method: 'POST', key: reader })).status).toBe(403);
    expect(await publishedReplays()).toEqual([]);
  });
});
