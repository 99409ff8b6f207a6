import type { StateRecord } from './state-file.js';

/** Of one request: a topic takes batches of 8 MiB. */
const MAX_RECORDS = 500;
const MAX_BYTES = 1_048_576;

/** What is published at once: records of one topic each, in their order, of at most 1 MiB unless a single one has more. */
export async function* portionsOf(
  all: AsyncIterable<StateRecord>,
): AsyncGenerator<[topic: string, records: StateRecord[]]> {
  let records: StateRecord[] = [];
  let bytes = 0;
  for await (const record of all) {
    const size = record.key.length + (record.value?.length ?? 0);
    const [first] = records;
    const isFull = records.length === MAX_RECORDS || bytes + size > MAX_BYTES;
    if (first !== undefined && (isFull || first.topic !== record.topic)) {
      yield [first.topic, records];
      records = [];
      bytes = 0;
    }
    records.push(record);
    bytes += size;
  }
  if (records[0] !== undefined) yield [records[0].topic, records];
}
