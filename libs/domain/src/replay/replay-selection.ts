import type { WebhookAttempt } from '../delivery/webhook-attempt.js';
import { TEST_EVENT_TYPE } from '../event/event-type.js';
import { deliveryStatus, type DeliveryStatus } from '../history/delivery-record.js';
import type { WebhookReplay } from './webhook-replay.js';

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
