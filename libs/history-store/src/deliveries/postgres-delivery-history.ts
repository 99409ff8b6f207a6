import type { PageSource, PreparedQuery } from '@waypost/database';
import {
  completeUntil,
  type DeliveryHistory,
  type DeliveryQuery,
  type DeliveryRecord,
  type FoundDeliveries,
  MAX_PAGE_BYTES,
  type ShownDelivery,
} from '@waypost/domain';
import { explainQuery, type PlanNode } from '../sql/explain-query.js';
import { findDeliveriesSql } from './find-deliveries-sql.js';
import { findEventSql } from './find-event-sql.js';
import { findWaitingSql } from './find-waiting-sql.js';
import { unpackAttempts } from './fold-attempts.js';

export interface DeliveryHistoryDeps {
  readonly pages: PageSource;
  readonly maxPageBytes?: number | undefined;
}

/** The history in PostgreSQL. Every page is one statement, and page 1,000 costs what page 1 costs. */
export function createDeliveryHistory({ pages, maxPageBytes = MAX_PAGE_BYTES }: DeliveryHistoryDeps): DeliveryHistory {
  async function find<Shown>(
    fleetId: string,
    page: PreparedQuery | null,
    shownOf: (row: DeliveryRow) => Shown,
  ): Promise<FoundDeliveries<Shown>> {
    const found = await pages.read<PageRow>(fleetId, withProgress(page));
    const rows = found.filter(isDelivery).sort((a, b) => a.place - b.place);
    return {
      records: rows.map(shownOf),
      bytes: Number(rows.at(-1)?.bytes ?? 0),
      hasMore: rows.at(-1)?.has_more ?? false,
      completeUntil: completeUntil(found[0]?.complete_until?.getTime() ?? null),
    };
  }

  const bytesOf = ({ maxBytes = maxPageBytes }: DeliveryQuery): number => Math.min(maxBytes, maxPageBytes);
  return {
    findDeliveries: (query) => find(query.fleetId, findDeliveriesSql(query, bytesOf(query)), toRecord),
    findWaiting: (query) => find(query.fleetId, findWaitingSql(query, bytesOf(query)), toShown),
    findEvent: (query) => find(query.fleetId, findEventSql(query, maxPageBytes), toShown),
  };
}

/** The progress matches the rows of the page, since one statement reads both. */
function withProgress(page: PreparedQuery | null): PreparedQuery {
  const { name, text, parameters } = page ?? NO_PAGE;
  return {
    name: `${name} +`,
    text: `SELECT * FROM (SELECT CASE WHEN bool_and(complete_until IS NOT NULL) THEN min(complete_until) END AS complete_until
              FROM delivery_progress) AS progress LEFT JOIN LATERAL (${text}) AS page ON true`,
    parameters,
  };
}

const NO_PAGE: PreparedQuery = { name: 'no page', text: 'SELECT NULL::uuid AS event_id WHERE false', parameters: [] };

/** The plan nodes of a page; empty: it can match nothing, so there is no query. */
export async function explainPage(pages: PageSource, query: DeliveryQuery): Promise<readonly PlanNode[]> {
  const sql = findDeliveriesSql(query, MAX_PAGE_BYTES);
  return sql === null ? [] : explainQuery(pages, query.fleetId, sql);
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
  readonly replay_id: string | null;
  readonly url: string;
  readonly body: string;
  readonly attempts: string;
  readonly place: number;
  /** The total up to this row. bigint, which pg reads as text. */
  readonly bytes: string;
  readonly has_more: boolean;
}

/** A page without deliveries has one row with the progress alone. */
type PageRow = { readonly complete_until: Date | null } & (DeliveryRow | { readonly event_id: null });

function isDelivery(row: PageRow): row is PageRow & DeliveryRow {
  return row.event_id !== null;
}

type WaitingRow = DeliveryRow | UnattemptedRow;

/** The columns of a delivery without an attempt, under the names of a row. */
interface UnattemptedRow extends Omit<DeliveryRow, 'first_attempt_at'> {
  readonly first_attempt_at: null;
}

function toShown(row: WaitingRow): ShownDelivery {
  if (row.first_attempt_at !== null) return toRecord(row);
  return {
    ...identityOf(row),
    firstAttemptAt: null,
    lastAttemptAt: null,
    deliveredAt: null,
    nextAttemptAt: null,
    status: 'pending',
    statusCode: null,
    attempts: [],
  };
}

function identityOf(row: WaitingRow) {
  return {
    eventId: row.event_id,
    series: row.series,
    replayId: row.replay_id,
    eventType: row.event_type,
    eventTime: row.event_time.getTime(),
    deviceId: row.device_id,
    subscriptionId: row.subscription_id,
    fleetId: row.fleet_id,
    format: row.format,
    body: row.body,
    createdAt: row.created_at.getTime(),
  };
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    ...identityOf(row),
    url: row.url,
    firstAttemptAt: row.first_attempt_at.getTime(),
    lastAttemptAt: row.last_attempt_at.getTime(),
    deliveredAt: row.delivered_at?.getTime() ?? null,
    nextAttemptAt: row.next_attempt_at?.getTime() ?? null,
    status: row.status,
    statusCode: row.status_code,
    attempts: unpackAttempts(row.attempts),
  };
}
