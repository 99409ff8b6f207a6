import { type DeliveryRecord, recordNumber } from '@waypost/domain';
import { type FoldedDelivery, lastRecordNumber, withoutOldProbes } from '../deliveries/fold-attempts.js';

/** Merges two parts of a delivery, `later` being later in the log; null: its first record is unknown. */
export function mergeDelivery(earlier: DeliveryRecord | undefined, later: FoldedDelivery): DeliveryRecord | null {
  if (earlier === undefined) return later.body === null ? null : { ...later, body: later.body };
  const last = lastRecordNumber(earlier);
  const added = later.attempts.filter((entry) => recordNumber(entry) > last);
  if (added.length === 0) return earlier;
  const { lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode } = later;
  const attempts = withoutOldProbes([...earlier.attempts, ...added]);
  return { ...earlier, lastAttemptAt, deliveredAt, nextAttemptAt, status, statusCode, attempts };
}
