import { setImmediate as nextTurn } from 'node:timers/promises';
import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import { partitionName, type RecordBatch } from '@waypost/streams';

export type DecodedBatch =
  | { readonly type: 'decoded'; readonly attempts: readonly WebhookAttempt[] }
  /** A record that is no attempt. The log is written by this system alone, so there is nothing to go on with. */
  | { readonly type: 'undecodable'; readonly where: string; readonly detail: string };

/** Between the pieces other partitions have their turn; to decode a thousand takes some milliseconds. */
const RECORDS_IN_A_PIECE = 200;

/** Rejects (to be tried again) while the schema registry is needed and away. */
export async function decodeAttempts(batch: RecordBatch, codec: SubjectCodec<WebhookAttempt>): Promise<DecodedBatch> {
  await resolveBatch(codec, batch.records);
  const attempts: WebhookAttempt[] = [];
  for (const [index, record] of batch.records.entries()) {
    if (index > 0 && index % RECORDS_IN_A_PIECE === 0) await nextTurn();
    const result = record.value === null ? null : codec.decode(record.value);
    if (result?.type !== 'decoded') {
      const where = `${partitionName(batch)} at offset ${String(record.offset)}`;
      return { type: 'undecodable', where, detail: JSON.stringify(result ?? { type: 'no_value' }) };
    }
    attempts.push(result.value);
  }
  return { type: 'decoded', attempts };
}
