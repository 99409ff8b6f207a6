import { headersSize, writeHeaders } from '../protocol/record-headers.js';
import { FetchedRecord, type StreamRecord } from '../record.js';

/** The record as a fetch would return it. */
export function fetchedRecordOf({ offset, timestamp, key, value, headers = [] }: StreamRecord): FetchedRecord {
  const [keyEnd, end] = [key?.length ?? 0, (key?.length ?? 0) + (value?.length ?? 0)];
  const bytes = Buffer.concat([key ?? Buffer.alloc(0), value ?? Buffer.alloc(0), Buffer.alloc(headersSize(headers))]);
  writeHeaders(bytes, end, headers);
  return new FetchedRecord(offset, timestamp, bytes, key ? 0 : -1, keyEnd, value ? keyEnd : -1, end, end);
}
