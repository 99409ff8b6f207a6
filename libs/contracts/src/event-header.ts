import { type HeaderOfRecord, singleHeader } from './record-header.js';

/** The position of an event in fleet.events. */
export interface EventPosition {
  readonly partition: number;
  readonly offset: number;
}

const EVENT_HEADER = 'waypost-event';
const VALUE = /^(?<partition>\d{1,9}):(?<offset>\d{1,15})$/;
const MAX_BYTES = 32;

/** Names the event of a delivery, so that its fan-out can tell its own deliveries from all others. */
export function eventHeader({ partition, offset }: EventPosition): HeaderOfRecord {
  return { key: EVENT_HEADER, value: Buffer.from(`${String(partition)}:${String(offset)}`, 'latin1') };
}

/** null: the record does not say. Replayed deliveries, test events and deliveries of earlier versions do not. */
export function readEventHeader(headers: readonly HeaderOfRecord[] = []): EventPosition | null {
  const groups = VALUE.exec(singleHeader(headers, EVENT_HEADER, MAX_BYTES) ?? '')?.groups;
  return groups ? { partition: Number(groups['partition']), offset: Number(groups['offset']) } : null;
}
