import type { FleetEvent } from '@waypost/domain';
import type { DecodedRecord } from '../topic-reading/decode-batch.js';
import { placeInLog, placeOf } from '../topic-reading/read-topic.js';
import type { DeliveryFindings, DeliveryLedger } from './delivery-ledger.js';
import type { EventFindings, EventLedger, LedgerEvent } from './event-ledger.js';

const EXAMPLES = 5;

function describe(what: string, names: readonly string[], count?: number): string[] {
  return names.length === 0 ? [] : [`  ${what}: ${countWithExamples(names, count)}`];
}

export function countWithExamples(names: readonly string[], count = names.length): string {
  const more = names.length > EXAMPLES ? ', ...' : '';
  return `${String(count)} (${names.slice(0, EXAMPLES).join('; ')}${more})`;
}

/** @param isCut the oldest pings are gone */
export function describeEvents(events: EventFindings, isCut: boolean): string[] {
  const note =
    `  cannot be judged: ${String(events.unjudged)} (the oldest pings were deleted, and with them the state of ` +
    'these devices)';
  return [
    `events: ${String(events.recomputed)} recomputed from the pings, ${String(events.logged)} in fleet.events`,
    ...describe('missing', events.missing),
    ...describe('unexpected', events.unexpected),
    ...describe('repeated', events.repeated),
    ...describe('unreadable', events.unreadable),
    ...(isCut ? [note] : []),
  ];
}

export function describeDeliveries(deliveries: DeliveryFindings): string[] {
  const { expected, found, delivered, failed, pending, unjudged, beforeDeliveries, beforeAttempts } = deliveries;
  const ofSubscriptions = unjudged.map(({ subscriptionId, because, found: count }) => {
    return `${String(count)} of subscription ${subscriptionId}, which ${because === 'gone' ? 'was deleted' : 'has changed since'}`;
  });
  const reasons = [
    ...ofSubscriptions,
    ...(beforeDeliveries === 0 ? [] : [`${String(beforeDeliveries)} that may have left webhook.deliveries`]),
    ...(beforeAttempts === 0 ? [] : [`${String(beforeAttempts)} whose attempts may have left webhook.attempts`]),
  ];
  return [
    `deliveries: ${String(expected)} expected, ${String(found)} found; ${String(delivered)} delivered, ${String(failed)} failed, ${String(pending)} pending`,
    ...describe('missing', deliveries.missing),
    ...describe('repeated', deliveries.repeated),
    ...describe('unreadable', deliveries.unreadable),
    ...describe('cannot be judged', reasons, sumOf(unjudged) + beforeDeliveries + beforeAttempts),
  ];
}

function sumOf(unjudged: DeliveryFindings['unjudged']): number {
  return unjudged.reduce((sum, { found }) => sum + found, 0);
}

/** Everything in which the logs do not agree. */
export function differencesOf(events: EventFindings, deliveries: DeliveryFindings): readonly string[] {
  return [
    ...events.missing,
    ...events.unexpected,
    ...events.repeated,
    ...events.unreadable,
    ...deliveries.missing,
    ...deliveries.repeated,
    ...deliveries.unreadable,
  ];
}

export interface LoggedRecordsOptions {
  readonly ledger: Pick<EventLedger, 'logged' | 'unreadable'>;
  readonly entryOf: (partition: number, event: FleetEvent) => LedgerEvent;
  /** The ping of an event at that place was processed before the pings were read. */
  readonly isSettled: (record: DecodedRecord) => boolean;
  /** Whether a record is in the range that is verified. */
  readonly isInRange: (record: DecodedRecord) => boolean;
}

/** Adds records of fleet.events; a record that is not an event is itself a difference. */
export function enterLogged(
  records: readonly DecodedRecord[],
  { ledger, entryOf, isSettled, isInRange }: LoggedRecordsOptions,
): void {
  for (const record of records) {
    const { partition, value } = record;
    const inRange = isInRange(record);
    if (value !== null)
      ledger.logged({ ...entryOf(partition, value as FleetEvent), isSettled: isSettled(record), inRange });
    else if (inRange) ledger.unreadable(placeOf(record));
  }
}

/**
 * Hands on what the records of a log of deliveries or attempts hold; one that is neither is its own difference, by
 * its place. These logs have no tombstones.
 *
 * @param take a value as the schema of the log's topic has it
 */
export function enterFollowed(
  records: readonly DecodedRecord[],
  ledger: Pick<DeliveryLedger, 'unreadable'>,
  take: (value: unknown) => void,
): void {
  for (const record of records) {
    if (record.value === null) ledger.unreadable(placeInLog(record));
    else take(record.value);
  }
}
