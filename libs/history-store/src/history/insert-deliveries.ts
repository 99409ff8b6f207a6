import type { CopyRows } from './copy-rows.js';
import { lastAttemptNumber, type FoldedDelivery } from './fold-attempts.js';
import { packedText } from './packed-attempts.js';

const COLUMNS = [
  'event_id',
  'first_attempt_at',
  'last_attempt_at',
  'event_time',
  'created_at',
  'delivered_at',
  'next_attempt_at',
  'series',
  'status_code',
  'last_attempt',
  'fleet_id',
  'device_id',
  'subscription_id',
  'event_type',
  'format',
  'status',
  'url',
  'body',
  'attempts',
] as const;

/**
 * Adds deliveries of one day of which none exists yet; one that does makes it fail with a unique violation. It names the
 * table of the day: a day that is dropped meanwhile would otherwise have to wait for every transaction that writes another.
 */
export const copyDeliveries = (partition: string): string =>
  `COPY ${partition} (${COLUMNS.join(', ')}) FROM STDIN (FORMAT binary)`;

export type WholeDelivery = FoldedDelivery & { readonly body: string };

/** A row of the data of `copyDeliveries`: in the order of COLUMNS. */
export function writeDeliveryRow(rows: CopyRows, delivery: WholeDelivery): void {
  rows.startRow(COLUMNS.length);
  rows.uuid(delivery.eventId);
  rows.timestamp(delivery.firstAttemptAt);
  rows.timestamp(delivery.lastAttemptAt);
  rows.timestamp(delivery.eventTime);
  rows.timestamp(delivery.createdAt);
  rows.timestamp(delivery.deliveredAt);
  rows.timestamp(delivery.nextAttemptAt);
  rows.integer(delivery.series);
  rows.integer(delivery.statusCode);
  rows.integer(lastAttemptNumber(delivery));
  rows.text(delivery.fleetId);
  rows.text(delivery.deviceId);
  rows.text(delivery.subscriptionId);
  rows.text(delivery.eventType);
  rows.text(delivery.format);
  rows.text(delivery.status);
  rows.text(delivery.url);
  rows.text(delivery.body);
  rows.text(packedText(delivery.attempts));
}
