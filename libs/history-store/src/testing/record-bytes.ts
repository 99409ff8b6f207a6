import type { DeliveryRecord } from '@waypost/domain';
import { packAttempts } from '../deliveries/fold-attempts.js';
import { FIXED_RECORD_BYTES } from '../deliveries/record-sql.js';

/** What a record adds to the bytes of its page (R-34a); the same as the SQL of a page. */
export function recordBytes({ body, attempts, url }: Pick<DeliveryRecord, 'body' | 'attempts' | 'url'>): number {
  const texts = [body, packAttempts(attempts), url];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), FIXED_RECORD_BYTES);
}
