import { attemptCount, type AttemptEntry, type DeliveryRecord } from '@waypost/domain';
import type { DeliveryPage } from '../delivery-history/delivery-page.js';
import { arrayText, createTimeText, optionalField, quoted } from '../delivery-history/page-text.js';

type TimeText = (timeMs: number) => string;

/** A page as v1 answers it: the JSON text. */
export function v1PageText({ records, nextPageState }: DeliveryPage): string {
  const time = createTimeText();
  const events = arrayText(records.map((record) => eventText(record, time)));
  return `{"events":${events},"next_page_state":${JSON.stringify(nextPageState)}}`;
}

/** `status_code` is the last attempt's and absent when that had none; `body` is the exact text that was sent. */
function eventText(delivery: DeliveryRecord, time: TimeText): string {
  const { deliveredAt, attempts } = delivery;
  return (
    `{"event_id":${quoted(delivery.eventId)},"event_type":${quoted(delivery.eventType)}` +
    `,"event_time":${time(delivery.eventTime)},"device_id":${quoted(delivery.deviceId)}` +
    `,"subscription_id":${quoted(delivery.subscriptionId)},"url":${quoted(delivery.url)}` +
    optionalField('status_code', delivery.statusCode) +
    `,"body":${quoted(delivery.body)},"retry_count":${String(Math.max(0, attemptCount(delivery) - 1))}` +
    `,"created_at":${time(delivery.createdAt)},"last_attempt_at":${time(delivery.lastAttemptAt)}` +
    optionalField('delivered_at', deliveredAt === null ? null : time(deliveredAt)) +
    `,"attempts":${arrayText(attempts.map((attempt) => attemptText(attempt, time)))}}`
  );
}

function attemptText({ attempt, startedAt, durationMs, statusCode, errorCode }: AttemptEntry, time: TimeText): string {
  return (
    `{"attempt":${String(attempt)},"started_at":${time(startedAt)},"duration_ms":${String(durationMs)}` +
    `${optionalField('status_code', statusCode)}${errorText(errorCode)}}`
  );
}

function errorText(errorCode: string | null): string {
  return optionalField('error', errorCode === null ? null : quoted(errorCode));
}
