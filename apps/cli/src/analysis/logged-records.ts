import type { FleetEvent } from '@waypost/domain';
import type { DecodedRecord } from '../log/decode-batch.js';
import type { DeliveryLedger } from './delivery-ledger.js';
import type { EventLedger, LedgerEvent } from './event-ledger.js';

export interface LoggedRecordsOptions {
  readonly ledger: Pick<EventLedger, 'logged' | 'unreadable'>;
  readonly entryOf: (partition: number, event: FleetEvent) => LedgerEvent;
  /** The ping of an event at that place was processed before the pings were read. */
  readonly isSettled: (record: DecodedRecord) => boolean;
  /** Of the range that is verified. */
  readonly isInRange: (record: DecodedRecord) => boolean;
}

/** Enters records of fleet.events; one that is no event is a difference of its own, by its place. */
export function enterLogged(
  records: readonly DecodedRecord[],
  { ledger, entryOf, isSettled, isInRange }: LoggedRecordsOptions,
): void {
  for (const record of records) {
    const { partition, value } = record;
    if (value !== null) ledger.logged({ ...entryOf(partition, value as FleetEvent), isSettled: isSettled(record) });
    else if (isInRange(record)) ledger.unreadable(placeOf(record));
  }
}

/**
 * Hands on what the records of a log of deliveries or attempts hold; one that is neither is a difference of its own, by
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

/** Where a record is of which nothing can be said, and why. */
export const placeInLog = (record: DecodedRecord): string => `${record.topic}, ${placeOf(record)}`;

const placeOf = ({ partition, offset, problem }: DecodedRecord): string =>
  `partition ${String(partition)}, offset ${String(offset)}: ${problem ?? 'no value'}`;
