import type { RejectedTelemetry } from '@waypost/domain';
import { topics } from '../topics/topics.js';
import type { DecodeResult, SubjectCodec } from './subject-codec.js';

/** Why a record is unusable; `reason` is one of those in the schema of telemetry.rejected. */
export interface Rejection {
  readonly reason: string;
  readonly detail: string;
}

export type ReadValue<T> = { readonly type: 'value'; readonly value: T } | ({ readonly type: 'rejected' } & Rejection);

/** The value of a record, or why it has none (R-2). The writers' schemas must have been looked up. Tombstones are rejected. */
export function readValue<T>(codec: SubjectCodec<T>, value: Buffer | null): ReadValue<T> {
  return value === null ? NO_VALUE : valueOf(codec.decode(value));
}

export const NO_VALUE = { type: 'rejected', reason: 'malformed', detail: 'the record has no value' } as const;

export function valueOf<T>(decoded: DecodeResult<T>): ReadValue<T> {
  switch (decoded.type) {
    case 'decoded':
      return { type: 'value', value: decoded.value };
    case 'malformed':
      return { type: 'rejected', reason: 'malformed', detail: decoded.detail };
    case 'unknown_schema':
      return { type: 'rejected', reason: 'unknown_schema', detail: `schema id ${String(decoded.id)}` };
    case 'incompatible_schema':
      return { type: 'rejected', reason: 'incompatible_schema', detail: decoded.detail };
    case 'unresolved':
      throw new Error(`Schema id ${String(decoded.id)} was not looked up before its record was processed.`);
  }
}

/** A record as read from the log; contracts know nothing of the runtime. */
interface SourceRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

const MAX_DETAIL_CHARACTERS = 500;

/**
 * A topic's limit counts compressed bytes, and others compress better than we do: a record that its topic has taken may
 * be too large for telemetry.rejected. The rest of the limit is for what a rejection adds.
 */
const MOST_BYTES = Number(topics.telemetryRejected.configs['max.message.bytes']) - 65_536;

/**
 * The record for telemetry.rejected: the original bytes, their origin, and the reason. Of a record that is too large
 * to be kept twice, the place alone.
 */
export function rejectedRecord(
  { topic, partition }: { readonly topic: string; readonly partition: number },
  { offset, timestamp, key, value }: SourceRecord,
  { reason, detail }: Rejection,
): RejectedTelemetry {
  // The key is that of the rejection, too.
  const bytes = 2 * (key?.length ?? 0) + (value?.length ?? 0);
  const isTooLarge = bytes > MOST_BYTES;
  const leftOut = isTooLarge ? ` (left out here, with ${String(bytes)} bytes)` : '';
  return {
    sourceTopic: topic,
    sourcePartition: partition,
    sourceOffset: offset,
    sourceTimestamp: timestamp,
    sourceKey: isTooLarge ? null : key,
    sourceValue: isTooLarge ? null : value,
    reason,
    detail: `${detail.slice(0, MAX_DETAIL_CHARACTERS)}${leftOut}`,
  };
}
