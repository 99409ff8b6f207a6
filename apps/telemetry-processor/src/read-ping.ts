import { createPingReader, type AvroCodecs, type DecodeResult } from '@waypost/contracts';
import type { TelemetryPing } from '@waypost/domain';
import { FetchedRecord, type StreamRecord } from '@waypost/streams';
import type { Rejection } from './rejected-record.js';

export type ReadPing =
  { readonly type: 'ping'; readonly ping: TelemetryPing } | ({ readonly type: 'rejected' } & Rejection);

/** The ping that a record holds, or why it holds none (R-2). The writers' schemas must have been looked up. */
export type PingRecordReader = (record: StreamRecord) => ReadPing;

const NO_VALUE: ReadPing = { type: 'rejected', reason: 'malformed', detail: 'the record has no value' };

export const createPingRecordReader = ({ telemetryPings }: AvroCodecs): PingRecordReader => {
  const read = createPingReader(telemetryPings);
  return (record) => {
    if (record instanceof FetchedRecord) {
      const { bytes, valueStart, valueEnd } = record;
      return valueStart < 0 ? NO_VALUE : pingOf(read(bytes, valueStart, valueEnd));
    }
    return record.value ? pingOf(read(record.value, 0, record.value.length)) : NO_VALUE;
  };
};

const pingOf = (decoded: DecodeResult<TelemetryPing>): ReadPing => {
  switch (decoded.type) {
    case 'decoded':
      return { type: 'ping', ping: decoded.value };
    case 'malformed':
      return { type: 'rejected', reason: 'malformed', detail: decoded.detail };
    case 'unknown_schema':
      return { type: 'rejected', reason: 'unknown_schema', detail: `schema id ${String(decoded.id)}` };
    case 'incompatible_schema':
      return { type: 'rejected', reason: 'incompatible_schema', detail: decoded.detail };
    case 'unresolved':
      throw new Error(`Schema id ${String(decoded.id)} was not looked up before its record was processed.`);
  }
};
