import type { PageSource } from '@waypost/database';
import { type DeliveryHistory, type DeliveryQuery, type DeliveryRecord, MAX_PAGE_BYTES } from '@waypost/domain';
import { explainQuery, type PlanNode } from '../pages/page-sql.js';
import { findDeliveriesSql } from './find-deliveries-sql.js';
import { unpackAttempts } from './fold-attempts.js';

export interface DeliveryHistoryDeps {
  readonly pages: PageSource;
  readonly maxPageBytes?: number | undefined;
}

/** The history in PostgreSQL. Every page is one statement, and page 1,000 costs what page 1 costs. */
export function createDeliveryHistory({ pages, maxPageBytes = MAX_PAGE_BYTES }: DeliveryHistoryDeps): DeliveryHistory {
  return {
    async findDeliveries(query) {
      const sql = findDeliveriesSql(query, maxPageBytes);
      const rows = sql === null ? [] : await pages.read<DeliveryRow>(sql);
      return { records: rows.map(toRecord), hasMore: rows.at(-1)?.has_more ?? false };
    },
  };
}

/** Runs the query of a page and returns the nodes of its plan; empty: it can find nothing, so there is no query. */
export async function explainPage(pages: PageSource, query: DeliveryQuery): Promise<readonly PlanNode[]> {
  const sql = findDeliveriesSql(query, MAX_PAGE_BYTES);
  return sql === null ? [] : explainQuery(pages, sql);
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
  readonly has_more: boolean;
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
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
  };
}
