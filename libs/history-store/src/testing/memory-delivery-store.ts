import { storableText } from '@waypost/database';
import {
  type DeliveryHistory,
  type DeliveryQuery,
  type DeliveryRecord,
  type FoundDeliveries,
  MAX_PAGE_BYTES,
} from '@waypost/domain';
import type { DeliveryProjection } from '../deliveries/delivery-projection.js';
import { deliveryKey, foldAttempts } from '../deliveries/fold-attempts.js';
import { isDayExpired } from '../partitions/daily-table.js';
import { mergeDelivery } from './merge-delivery.js';
import { recordBytes } from './record-bytes.js';

/** Projection and history in memory. The contract suite keeps it equal to PostgreSQL. */
export interface MemoryDeliveryStore {
  readonly projection: DeliveryProjection;
  readonly history: DeliveryHistory;
}

export interface MemoryDeliveryStoreDeps {
  readonly now: () => number;
  readonly maxPageBytes?: number | undefined;
}

export function createMemoryDeliveryStore({
  now,
  maxPageBytes = MAX_PAGE_BYTES,
}: MemoryDeliveryStoreDeps): MemoryDeliveryStore {
  const positions = new Map<string, number>();
  const rows = new Map<string, DeliveryRecord>();
  const nameOf = (topic: string, partition: number): string => `${topic}-${String(partition)}`;

  const projection: DeliveryProjection = {
    readPosition: (topic, partition) => Promise.resolve(positions.get(nameOf(topic, partition)) ?? null),
    apply(batch) {
      const name = nameOf(batch.topic, batch.partition);
      const storedOffset = positions.get(name) ?? null;
      if (storedOffset !== batch.expectedOffset) return Promise.resolve({ type: 'superseded', storedOffset });
      const kept = batch.attempts.filter(({ firstAttemptAt }) => !isDayExpired(firstAttemptAt, now()));
      const folded = foldAttempts(kept);
      let deliveries = 0;
      for (const delivery of folded) {
        const key = deliveryKey(delivery);
        const merged = mergeDelivery(rows.get(key), delivery);
        if (merged === null) continue;
        rows.set(key, merged);
        deliveries += 1;
      }
      positions.set(name, batch.nextOffset);
      const expiredAttempts = batch.attempts.length - kept.length;
      return Promise.resolve({
        type: 'applied',
        deliveries,
        expiredAttempts,
        headlessDeliveries: folded.length - deliveries,
      });
    },
  };

  const history: DeliveryHistory = {
    // Only attempts are projected here.
    findWaiting: () => Promise.resolve({ records: [], bytes: 0, hasMore: false, completeUntil: null }),
    findDeliveries(query) {
      const found = [...rows.values()].filter((row) => matches(row, query)).sort(comparePositions);
      if (query.order === 'desc') found.reverse();
      return Promise.resolve(pageOf(found, query.limit, Math.min(query.maxBytes ?? maxPageBytes, maxPageBytes)));
    },
    findEvent({ afterSeries = -1, ...query }) {
      const found = [...rows.values()].filter(
        (row) => row.series > afterSeries && matches(row, { ...query, endAt: Number.MAX_SAFE_INTEGER }),
      );
      found.sort((a, b) => a.series - b.series);
      return Promise.resolve(pageOf(found, query.limit, maxPageBytes));
    },
  };
  return { projection, history };
}

function pageOf(found: readonly DeliveryRecord[], limit: number, maxBytes: number): FoundDeliveries {
  const records: DeliveryRecord[] = [];
  let bytes = 0;
  for (const record of found.slice(0, limit)) {
    const more = recordBytes(record);
    if (records.length > 0 && bytes + more > maxBytes) break;
    records.push(record);
    bytes += more;
  }
  return { records, bytes, hasMore: records.length < found.length, completeUntil: null };
}

function matches(row: DeliveryRecord, query: DeliveryQuery): boolean {
  if (row.fleetId !== storableText(query.fleetId)) return false;
  if (row.firstAttemptAt < query.startAt || row.firstAttemptAt >= query.endAt) return false;
  if (query.after !== undefined && !isBehind(row, query.after, query.order)) return false;
  if (query.eventTypes !== undefined && query.eventTypes.length > 0 && !query.eventTypes.includes(row.eventType)) {
    return false;
  }
  return (
    isSameText(query.deviceId, row.deviceId) &&
    isSameText(query.subscriptionId, row.subscriptionId) &&
    (query.subscriptionIds === undefined || query.subscriptionIds.map(storableText).includes(row.subscriptionId)) &&
    isSameText(query.eventId?.toLowerCase(), row.eventId) &&
    (query.statusCode === undefined || query.statusCode === row.statusCode) &&
    (query.status === undefined || query.status === row.status)
  );
}

function isSameText(expected: string | undefined, found: string): boolean {
  return expected === undefined || storableText(expected) === found;
}

interface Position {
  readonly firstAttemptAt: number;
  readonly eventId: string;
  readonly series: number;
}

function isBehind(row: Position, after: Position, order: DeliveryQuery['order']): boolean {
  return order === 'desc' ? comparePositions(row, after) < 0 : comparePositions(row, after) > 0;
}

/** UUIDs in lower case sort as text like their bytes. */
function comparePositions(a: Position, b: Position): number {
  if (a.firstAttemptAt !== b.firstAttemptAt) return a.firstAttemptAt - b.firstAttemptAt;
  if (a.eventId !== b.eventId) return a.eventId < b.eventId ? -1 : 1;
  return a.series - b.series;
}
