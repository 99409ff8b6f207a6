import type { DeliveryHistory, DeliveryRecord } from '@waypost/domain';
import type { PageSource } from '@waypost/database';
import { findDeliveriesSql } from './find-deliveries-sql.js';
import { unpackAttempts } from './packed-attempts.js';

/** The history as PostgreSQL holds it. A page costs one statement, whatever page it is. */
export function createDeliveryHistory({ pages }: { readonly pages: PageSource }): DeliveryHistory {
  return {
    async findDeliveries(query) {
      const sql = findDeliveriesSql(query);
      return sql === null ? [] : (await pages.read<DeliveryRow>(sql)).map(toRecord);
    },
  };
}

interface DeliveryRow {
  readonly event_id: string;
  readonly first_attempt_at: Date;
  readonly last_attempt_at: Date;
  readonly event_time: Date;
  readonly created_at: Date;
  readonly delivered_at: Date | null;
  readonly next_attempt_at: Date | null;
  readonly series: number;
  readonly status_code: number | null;
  readonly fleet_id: string;
  readonly device_id: string;
  readonly subscription_id: string;
  readonly event_type: string;
  readonly format: string;
  readonly status: DeliveryRecord['status'];
  readonly url: string;
  readonly body: string;
  readonly attempts: string;
}

const toRecord = (row: DeliveryRow): DeliveryRecord => ({
  eventId: row.event_id,
  series: row.series,
  eventType: row.event_type,
  eventTime: row.event_time.getTime(),
  deviceId: row.device_id,
  subscriptionId: row.subscription_id,
  fleetId: row.fleet_id,
  url: row.url,
  format: row.format,
  body: row.body,
  createdAt: row.created_at.getTime(),
  firstAttemptAt: row.first_attempt_at.getTime(),
  lastAttemptAt: row.last_attempt_at.getTime(),
  deliveredAt: row.delivered_at?.getTime() ?? null,
  nextAttemptAt: row.next_attempt_at?.getTime() ?? null,
  status: row.status,
  statusCode: row.status_code,
  attempts: unpackAttempts(row.attempts),
});
