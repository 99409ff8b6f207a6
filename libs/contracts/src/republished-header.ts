import { type HeaderOfRecord, singleHeader } from './record-header.js';

/** Where a record was in its partition when it was rejected for the first time. */
export interface RejectedOrigin {
  readonly offset: number;
  /** Epoch milliseconds: tells it from a record of a topic that was deleted and made again. */
  readonly timestamp: number;
}

const REPUBLISHED_HEADER = 'waypost-republished-from';
const VALUE = /^(?<offset>\d{1,15}):(?<timestamp>-?\d{1,15})$/;
const MAX_BYTES = 32;
const NO_HEADERS: readonly HeaderOfRecord[] = [];

/** Names the original of a record that an operator publishes again, so that its rejections count as one. */
export function republishedHeader({ offset, timestamp }: RejectedOrigin): HeaderOfRecord {
  return { key: REPUBLISHED_HEADER, value: Buffer.from(`${String(offset)}:${String(timestamp)}`, 'latin1') };
}

/** null: it is an original. */
export function readRepublishedHeader(headers: readonly HeaderOfRecord[] = []): RejectedOrigin | null {
  const groups = VALUE.exec(singleHeader(headers, REPUBLISHED_HEADER, MAX_BYTES) ?? '')?.groups;
  return groups ? { offset: Number(groups['offset']), timestamp: Number(groups['timestamp']) } : null;
}

/** The headers of the rejection of a record: the name of its original, if it has one. */
export function rejectionHeaders(headers: readonly HeaderOfRecord[] | undefined): readonly HeaderOfRecord[] {
  const origin = readRepublishedHeader(headers);
  return origin === null ? NO_HEADERS : [republishedHeader(origin)];
}
