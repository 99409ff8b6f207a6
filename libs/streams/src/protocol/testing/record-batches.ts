import type { OutgoingRecord, StreamRecord } from '../../record.js';
import { type AbortedTransaction, scanRecordBatches } from '../record-batch-decoder.js';
import { type ProducerIdentity, sealRecordBatch } from '../record-batch-encoder.js';
import { RecordBuffer } from '../record-collector.js';

export type RecordToEncode = Omit<OutgoingRecord, 'topic' | 'partition'>;

export function encodeRecordBatch(
  records: readonly RecordToEncode[],
  timestamp: number,
  producer: ProducerIdentity,
  compressAboveBytes = Infinity,
): Buffer {
  const buffer = new RecordBuffer('', 0, Infinity);
  for (const { key, value, headers, timestamp: own } of records) buffer.append(key, value, headers, own);
  const [batch] = buffer.batches;
  if (!batch) throw new Error('A record batch holds at least one record.');
  return sealRecordBatch(batch, timestamp, producer, compressAboveBytes);
}

export function decodeRecordBatches(
  data: Buffer,
  position: number,
  aborted: readonly AbortedTransaction[],
): { records: StreamRecord[]; nextOffset: number } {
  const { nextOffset, slices } = scanRecordBatches(data, position, aborted);
  return { records: [...slices(Infinity)].flat(), nextOffset };
}
