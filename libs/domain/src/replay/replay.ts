import { TEST_EVENT_TYPE } from '../event/event-type.js';
import { deliveryStatus, type DeliveryStatus } from '../history/delivery-history.js';
import type { ReplayProgress } from '../records/replay-progress.js';
import type { WebhookAttempt } from '../records/webhook-attempt.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookReplay } from '../records/webhook-replay.js';

export type ReplayProgressState = 'running' | 'completed' | 'cancelled';

/** Whether nothing more comes of it. */
export function isReplayOver({ state }: Pick<ReplayProgress, 'state'>): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Unless the caller says otherwise: 100,000 deliveries in 200 s, beside which live events still get through. */
export const DEFAULT_REPLAY_RATE_PER_SECOND = 500;
export const MAX_REPLAY_RATE_PER_SECOND = 10_000;

/** Of an attempt record, what a replay looks at. */
export type ReplayedAttempt = Pick<
  WebhookAttempt,
  'subscriptionId' | 'series' | 'firstAttemptAt' | 'eventType' | 'deviceId' | 'outcome'
>;

/**
 * What an attempt says of its delivery for this replay: how the delivery stands since, or null when the replay has
 * nothing to do with it. Only first sendings count, or replays of replays would multiply; and no test events.
 */
export function replayStatusOf(replay: WebhookReplay, attempt: ReplayedAttempt): DeliveryStatus | null {
  const { subscriptionId, series, firstAttemptAt, eventType, deviceId, outcome } = attempt;
  const ofReplay =
    subscriptionId === replay.subscriptionId &&
    series === 0 &&
    firstAttemptAt >= replay.startDate &&
    firstAttemptAt < replay.endDate &&
    eventType !== TEST_EVENT_TYPE &&
    (replay.eventType === null || eventType === replay.eventType) &&
    (replay.deviceId === null || deviceId === replay.deviceId);
  return ofReplay ? deliveryStatus(outcome) : null;
}

/** Whether a delivery that stood so when the replay began is sent again. */
export function isReplayed(replay: Pick<WebhookReplay, 'status'>, status: DeliveryStatus): boolean {
  return replay.status === null || replay.status === status;
}

/** The delivery as it is sent again: same id, same bytes, in the series of the replay. */
export function replayedDelivery(
  delivery: WebhookDelivery,
  replay: Pick<WebhookReplay, 'replayId' | 'series'>,
  nowMs: number,
): WebhookDelivery {
  return { ...delivery, series: replay.series, replayId: replay.replayId, createdAt: nowMs };
}
