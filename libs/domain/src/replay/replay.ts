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

/** At this rate, 100,000 deliveries take 200 s, leaving room for live events. */
export const DEFAULT_REPLAY_RATE_PER_SECOND = 500;
export const MAX_REPLAY_RATE_PER_SECOND = 10_000;

export type ReplayedAttempt = Pick<
  WebhookAttempt,
  'eventId' | 'subscriptionId' | 'series' | 'firstAttemptAt' | 'eventType' | 'deviceId'
>;

/** Ignores results. Only first sendings count, or replays of replays would multiply. */
export function isOfReplay(replay: WebhookReplay, attempt: ReplayedAttempt): boolean {
  const { eventId, subscriptionId, series, firstAttemptAt, eventType, deviceId } = attempt;
  return (
    subscriptionId === replay.subscriptionId &&
    series === 0 &&
    firstAttemptAt >= replay.startDate &&
    firstAttemptAt < replay.endDate &&
    eventType !== TEST_EVENT_TYPE &&
    (replay.eventId === null || eventId === replay.eventId) &&
    (replay.eventType === null || eventType === replay.eventType) &&
    (replay.deviceId === null || deviceId === replay.deviceId)
  );
}

export interface DeliveryResult {
  readonly status: DeliveryStatus;
  readonly statusCode: number | null;
}

export function resultOf({ outcome, statusCode }: Pick<WebhookAttempt, 'outcome' | 'statusCode'>): DeliveryResult {
  return { status: deliveryStatus(outcome), statusCode };
}

type ResultFilter = Pick<WebhookReplay, 'status' | 'statusCode'>;

/** `result` is that of the latest series when the replay began. */
export function isReplayed(replay: ResultFilter, { status, statusCode }: DeliveryResult): boolean {
  const isOfStatus = replay.status === null || replay.status === status;
  return isOfStatus && (replay.statusCode === null || replay.statusCode === statusCode);
}

export function goesByResult({ status, statusCode }: ResultFilter): boolean {
  return status !== null || statusCode !== null;
}

/** the delivery of an attempt, with its exact body; null: only the first record of a series has one. */
export function deliveryOfAttempt(attempt: WebhookAttempt): WebhookDelivery | null {
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, body, series, replayId } = attempt;
  if (body === null) return null;
  const its = { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, body, series, replayId };
  return { ...its, createdAt: attempt.deliveryCreatedAt };
}

/** same id, same bytes, in the series of the replay. */
export function replayedDelivery(
  delivery: WebhookDelivery,
  replay: Pick<WebhookReplay, 'replayId' | 'series'>,
  nowMs: number,
): WebhookDelivery {
  return { ...delivery, series: replay.series, replayId: replay.replayId, createdAt: nowMs };
}
