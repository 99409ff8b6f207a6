import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { MAX_TIME_MS, type OperationalEvent } from '@waypost/domain';
import type { RecordBatch } from '@waypost/streams';
import { isUuid } from '../http/parameter-readers.js';

export interface DecodedOperations {
  readonly events: readonly OperationalEvent[];
  /** Records that say nothing: of no known schema, or about nothing that can be found. */
  readonly unusable: readonly { readonly offset: number; readonly detail: string }[];
}

/** Rejects (to be tried again) while the schema registry is needed and away. */
export async function decodeOperations(
  batch: RecordBatch,
  codec: SubjectCodec<OperationalEvent>,
): Promise<DecodedOperations> {
  await resolveBatch(codec, batch.records);
  const events: OperationalEvent[] = [];
  const unusable: { offset: number; detail: string }[] = [];
  for (const { value, offset } of batch.records) {
    const result = value === null ? { type: 'no_value' as const } : codec.decode(value);
    if (result.type !== 'decoded') unusable.push({ offset, detail: result.type });
    else if (!fitsTheTable(result.value)) unusable.push({ offset, detail: 'an id is no UUID, or the time is none' });
    else events.push(result.value);
  }
  return { events, unusable };
}

/** One value that the columns do not take would keep the whole batch out, for ever. */
function fitsTheTable({ id, subscriptionId, eventId, occurredAt }: OperationalEvent): boolean {
  const isTime = occurredAt >= 0 && occurredAt <= MAX_TIME_MS;
  return isTime && isUuid(id) && isUuid(subscriptionId) && (eventId === null || isUuid(eventId));
}
