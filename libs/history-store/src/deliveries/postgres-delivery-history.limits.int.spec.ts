import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FoundDeliveries, ShownDelivery } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { createProjectionProgress } from '../progress/projection-progress.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';
import { createWaitingProjection } from './postgres-waiting-projection.js';

const suite = useTestHistory();

const DAY_MS = 86_400_000;
const PAGE = { fleetId: 'acme', startAt: NOW - DAY_MS, limit: 10 };
const CREATED_AT = NOW - 60_000;
const EVENT_ID = uuidOf('event');
/** The 4 MiB of a page have room for two of these bodies and not for three. */
const BODY_BYTES = 1_400_000;

beforeAll(async () => {
  await createProjectionProgress(suite.dataSource).begin('webhook.attempts', 1);
  const waiting = createWaitingProjection({ dataSource: suite.dataSource, now: () => NOW });
  const deliveries = [0, 1, 2, 3, 4].map((series) => ({
    eventId: EVENT_ID,
    subscriptionId: uuidOf('subscription'),
    fleetId: PAGE.fleetId,
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: NOW - 70_000,
    format: 'v1',
    body: `"${'x'.repeat(BODY_BYTES - 2)}"`,
    series,
    createdAt: CREATED_AT,
    replayId: null,
  }));
  const move = { topic: 'webhook.deliveries', partition: 0, expectedOffset: null, nextOffset: 6 };
  await waiting.apply({ ...move, deliveries });
});

function findEvent(afterSeries?: number) {
  return createDeliveryHistory(suite).findEvent({ ...PAGE, eventId: EVENT_ID, afterSeries });
}

function findWaiting(afterSeries?: number, maxBytes?: number) {
  const after = afterSeries === undefined ? undefined : positionOf(afterSeries);
  return createDeliveryHistory(suite).findWaiting({ ...PAGE, endAt: NOW, status: 'pending', after, maxBytes });
}

function positionOf(series: number) {
  return { firstAttemptAt: CREATED_AT, eventId: EVENT_ID, series };
}

function summaryOf({ records, hasMore }: FoundDeliveries<ShownDelivery>) {
  return { series: records.map(({ series }) => series), hasMore };
}

describe('a page of the history whose bodies are large (R-34a)', () => {
  it.each([
    ['of one event', findEvent],
    ['of deliveries without an attempt', findWaiting],
  ])('%s ends when its bytes are reached, and says that there is more', async (_, find) => {
    expect(summaryOf(await find())).toEqual({ series: [0, 1], hasMore: true });
    expect(summaryOf(await find(1))).toEqual({ series: [2, 3], hasMore: true });
    expect(summaryOf(await find(3))).toEqual({ series: [4], hasMore: false });
  });

  it('of deliveries without an attempt is as short as the caller wants it', async () => {
    expect(summaryOf(await findWaiting(undefined, 2 * BODY_BYTES))).toEqual({ series: [0], hasMore: true });
  });
});
