import { randomUUID } from 'node:crypto';
import type { AttemptEntry, DeliveryHistory, DeliveryRecord, ShownDelivery, WaitingDelivery } from '@waypost/domain';

/** A delivered event of fleet `acme`; what a test cares about it says itself. */
export function deliveryRecord(given: Partial<DeliveryRecord> = {}): DeliveryRecord {
  const firstAttemptAt = given.firstAttemptAt ?? Date.now() - 60_000;
  const eventId = given.eventId ?? randomUUID();
  return {
    eventId,
    series: 0,
    replayId: null,
    eventType: 'position',
    eventTime: firstAttemptAt - 500,
    deviceId: 'device-1',
    subscriptionId: '0b0e8f0a-6f4e-4c53-9a54-7d4b5b0d9a11',
    fleetId: 'acme',
    url: 'https://receiver.example/hook',
    format: 'v1',
    body: JSON.stringify({ eventId, eventTime: '2026-03-01T00:00:00.000Z', eventType: 'position', eventData: {} }),
    createdAt: firstAttemptAt - 20,
    firstAttemptAt,
    lastAttemptAt: firstAttemptAt,
    deliveredAt: firstAttemptAt + 30,
    nextAttemptAt: null,
    status: 'delivered',
    statusCode: 200,
    attempts: [attemptEntry({ startedAt: firstAttemptAt })],
    ...given,
  };
}

export function attemptEntry(given: Partial<AttemptEntry> = {}): AttemptEntry {
  return {
    attempt: 1,
    probe: false,
    probes: 0,
    startedAt: Date.now(),
    dueAt: Date.now(),
    durationMs: 30,
    statusCode: 200,
    errorCode: null,
    outcome: 'delivered',
    decision: 'accepted',
    errorDetail: null,
    responseBody: null,
    ...given,
  };
}

interface GivenHistory {
  readonly completeUntil?: number | null;
  /** Deliveries of fleet `acme`, in the order of creation. */
  readonly waiting?: readonly ShownDelivery[];
}

/** A delivery without an attempt. */
export function waitingDelivery(given: Partial<WaitingDelivery> = {}): WaitingDelivery {
  const { url: _, ...record } = deliveryRecord();
  return {
    ...record,
    firstAttemptAt: null,
    lastAttemptAt: null,
    deliveredAt: null,
    nextAttemptAt: null,
    status: 'pending',
    statusCode: null,
    attempts: [],
    ...given,
  };
}

/** A history that holds these records, filtered by fleet, window and position as the port says. */
export function historyOf(
  records: readonly DeliveryRecord[],
  { completeUntil = null, waiting = [] }: GivenHistory = {},
): DeliveryHistory {
  const inOrder = [...records].sort(byPosition);
  return {
    findWaiting: ({ fleetId, subscriptionIds, eventId, after, order, limit }) => {
      const inQuery = order === 'desc' ? waiting.toReversed() : waiting;
      const from = after === undefined ? 0 : inQuery.findIndex((one) => one.eventId === after.eventId) + 1;
      const found = inQuery
        .slice(from)
        .filter(
          (one) =>
            one.fleetId === fleetId &&
            (subscriptionIds === undefined || subscriptionIds.includes(one.subscriptionId)) &&
            (eventId === undefined || one.eventId === eventId),
        );
      return Promise.resolve({ ...pageOf(found, limit), completeUntil });
    },
    findEvent: ({ fleetId, subscriptionIds, eventId, startAt, afterSeries = -1, limit }) => {
      const found = [...inOrder, ...waiting].filter(
        (one) =>
          one.fleetId === fleetId &&
          one.eventId === eventId &&
          one.series > afterSeries &&
          (one.firstAttemptAt ?? one.createdAt) >= startAt &&
          (subscriptionIds === undefined || subscriptionIds.includes(one.subscriptionId)),
      );
      found.sort((a, b) => a.series - b.series);
      return Promise.resolve({ ...pageOf(found, limit), completeUntil });
    },
    findDeliveries: (query) => {
      const isBehind = (record: Position, after: Position): boolean =>
        query.order === 'desc' ? byPosition(record, after) < 0 : byPosition(record, after) > 0;
      const found = (query.order === 'desc' ? inOrder.toReversed() : inOrder).filter(
        (record) =>
          record.fleetId === query.fleetId &&
          record.firstAttemptAt >= query.startAt &&
          record.firstAttemptAt < query.endAt &&
          (query.after === undefined || isBehind(record, query.after)) &&
          (query.eventTypes === undefined || query.eventTypes.includes(record.eventType)) &&
          (query.statusCode === undefined || query.statusCode === record.statusCode) &&
          (query.status === undefined || query.status === record.status) &&
          (query.deviceId === undefined || query.deviceId === record.deviceId) &&
          (query.subscriptionId === undefined || query.subscriptionId === record.subscriptionId) &&
          (query.subscriptionIds === undefined || query.subscriptionIds.includes(record.subscriptionId)) &&
          (query.eventId === undefined || query.eventId === record.eventId) &&
          (query.withoutWaiting !== true || !waiting.some(({ eventId }) => eventId === record.eventId)),
      );
      return Promise.resolve({ ...pageOf(found, query.limit), completeUntil });
    },
  };
}

/** A page of records that are small. */
function pageOf<Shown>(found: readonly Shown[], limit: number) {
  return { records: found.slice(0, limit), bytes: 0, hasMore: found.length > limit };
}

type Position = Pick<DeliveryRecord, 'firstAttemptAt' | 'eventId' | 'series'>;

function byPosition(a: Position, b: Position): number {
  if (a.firstAttemptAt !== b.firstAttemptAt) return a.firstAttemptAt - b.firstAttemptAt;
  return a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.series - b.series;
}
