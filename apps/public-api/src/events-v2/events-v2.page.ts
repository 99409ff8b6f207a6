import { attemptCount, type AttemptEntry, probeCount, type ShownDelivery } from '@waypost/domain';
import type { DeliveryPage } from '../delivery-history/delivery-page.js';
import { arrayText, createTimeText, optionalField, quoted } from '../delivery-history/page-text.js';
import type { SearchedPage } from '../delivery-history/payload-search.js';

type TimeText = (timeMs: number) => string;

export interface V2PageOptions {
  /** Adds the exact text that was pushed as a string. */
  readonly includeBody: boolean;
}

/** A page as v2 answers it (R-33): the JSON text. */
export function v2PageText(
  {
    records,
    nextPageState,
    completeUntil,
    searchedUntil,
  }: DeliveryPage<ShownDelivery> & Partial<SearchedPage<ShownDelivery>>,
  options: V2PageOptions,
): string {
  const time = createTimeText();
  const data = arrayText(records.map((record) => eventText(record, options, time)));
  const timeOrNull = (timeMs: number | null): string => (timeMs === null ? 'null' : time(timeMs));
  const searched = searchedUntil === undefined ? '' : `,"searchedUntil":${timeOrNull(searchedUntil)}`;
  return `{"data":${data},"nextPageState":${JSON.stringify(nextPageState)}${searched},"completeUntil":${timeOrNull(completeUntil)}}`;
}

function eventText(delivery: ShownDelivery, { includeBody }: V2PageOptions, time: TimeText): string {
  return (
    `{"eventId":${quoted(delivery.eventId)},"eventType":${quoted(delivery.eventType)}` +
    `,"eventTime":${time(delivery.eventTime)},"deviceId":${quoted(delivery.deviceId)}` +
    `,"subscriptionId":${quoted(delivery.subscriptionId)},"format":${quoted(delivery.format)}` +
    // The body is JSON text already (R-15). As it stands every number in it keeps its digits as well.
    `,"payload":${delivery.body}${includeBody ? `,"body":${quoted(delivery.body)}` : ''}` +
    `,"delivery":${deliveryText(delivery, time)}}`
  );
}

function deliveryText(delivery: ShownDelivery, time: TimeText): string {
  const { attempts, firstAttemptAt, lastAttemptAt, nextAttemptAt, replayId } = delivery;
  const probes = probeCount(delivery);
  return (
    `{"status":${quoted(delivery.status)},"series":${String(delivery.series)}` +
    optionalField('replayId', replayId === null ? null : quoted(replayId)) +
    optionalField('statusCode', delivery.statusCode) +
    `,"attemptCount":${String(attemptCount(delivery))}${optionalField('probeCount', probes === 0 ? null : probes)}` +
    optionalField('firstAttemptAt', firstAttemptAt === null ? null : time(firstAttemptAt)) +
    optionalField('lastAttemptAt', lastAttemptAt === null ? null : time(lastAttemptAt)) +
    optionalField('nextAttemptAt', nextAttemptAt === null ? null : time(nextAttemptAt)) +
    `,"attempts":${arrayText(attempts.map((attempt) => attemptText(attempt, time)))}}`
  );
}

function attemptText(
  { attempt, probe, dueAt, startedAt, durationMs, statusCode, errorCode, errorDetail, responseBody }: AttemptEntry,
  time: TimeText,
): string {
  return (
    `{"attempt":${String(attempt)}${probe ? ',"probe":true' : ''},"dueAt":${time(dueAt)}` +
    `,"startedAt":${time(startedAt)},"durationMs":${String(durationMs)}` +
    optionalField('statusCode', statusCode) +
    optionalField('error', errorCode === null ? null : quoted(errorCode)) +
    optionalField('errorDetail', errorDetail === null ? null : quoted(errorDetail)) +
    `${optionalField('responseBody', responseBody === null ? null : quoted(responseBody))}}`
  );
}
