import { TEST_EVENT_TYPE } from '../event/event-type.js';
import { type DeliveryStatus, deliveryStatus } from '../history/delivery-history.js';
import type { ReplayProgress } from '../records/replay-progress.js';
import type { WebhookAttempt } from '../records/webhook-attempt.js';
import type { WebhookDelivery } from '../records/webhook-delivery.js';
import type { WebhookReplay } from '../records/webhook-replay.js';

export type ReplayProgressState = 'running' | 'completed' | 'cancelled';

export function isReplayOver({ state }: Pick<ReplayProgress, 'state'>): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** 100,000 deliveries in 200 s, leaving room for live events. */
export const DEFAULT_REPLAY_RATE_PER_SECOND = 500;
export const MAX_REPLAY_RATE_PER_SECOND = 10_000;

export type ReplayedAttempt = Pick<
  WebhookAttempt,
  'eventId' | 'subscriptionId' | 'series' | 'firstAttemptAt' | 'eventType' | 'deviceId' | 'outcome'
>;

/**
 * the delivery's status after an attempt, or null when the replay does not include it. Only first sendings count,
 * or replays of replays would multiply; and no test events.
 */
export function replayStatusOf(replay: WebhookReplay, attempt: ReplayedAttempt): DeliveryStatus | null {
  const { eventId, subscriptionId, series, firstAttemptAt, eventType, deviceId, outcome } = attempt;
  const ofReplay =
    subscriptionId === replay.subscriptionId &&
    series === 0 &&
    firstAttemptAt >= replay.startDate &&
    firstAttemptAt < replay.endDate &&
    eventType !== TEST_EVENT_TYPE &&
    (replay.eventId === null || eventId === replay.eventId) &&
    (replay.eventType === null || eventType === replay.eventType) &&
    (replay.deviceId === null || deviceId === replay.deviceId);
  return ofReplay ? deliveryStatus(outcome) : null;
}

/** `status` is that of the latest series when the replay began. */
export function isReplayed(replay: Pick<WebhookReplay, 'status'>, status: DeliveryStatus): boolean {
  return replay.status === null || replay.status === status;
}

/** same id, same bytes, in the series of the replay. */
export function replayedDelivery(
  delivery: WebhookDelivery,
  replay: Pick<WebhookReplay, 'replayId' | 'series'>,
  nowMs: number,
): WebhookDelivery {
  return { ...delivery, series: replay.series, replayId: replay.replayId, createdAt: nowMs };
}
