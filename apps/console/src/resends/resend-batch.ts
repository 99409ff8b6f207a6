import type { CreateReplay, Replay, Subscription } from '@waypost/client';
import { type DeliveryFilters, filtersText, windowOf } from '../filters/delivery-filters.js';

/** Everything that a filter matched, sent again: one replay per subscription. It is kept in the browser that began it. */
export interface ResendBatch {
  readonly id: string;
  readonly fleetId: string;
  readonly createdAtMs: number;
  /** The filter, for people. */
  readonly text: string;
  readonly body: CreateReplay;
  readonly items: readonly ResendItem[];
}

export interface ResendItem {
  readonly subscriptionId: string;
  /** null: the replay has not been created yet. */
  readonly replayId: string | null;
}

/** Why a filter cannot be resent as a whole; null: it can. */
export function obstacleOf({ eventId, payload, eventTypes }: DeliveryFilters): string | null {
  if (eventId !== '') return 'One event is resent on its own page.';
  if (payload !== '') return 'A replay cannot be limited to a payload field. Remove that filter.';
  if (eventTypes.length > 0 && eventTypes.every((type) => type === 'test')) return 'Test events are not resent.';
  return null;
}

/** The subscriptions that can have deliveries of the filter. */
export function concerned(filters: DeliveryFilters, subscriptions: readonly Subscription[]): Subscription[] {
  const { subscriptionId, eventTypes, deviceId } = filters;
  return subscriptions.filter(
    ({ id, eventType, deviceIds }) =>
      (subscriptionId === '' || id === subscriptionId) &&
      (eventTypes.length === 0 || eventTypes.some((type) => type === eventType)) &&
      (deviceId === '' || deviceIds === undefined || deviceIds.includes(deviceId)),
  );
}

interface NewBatch {
  readonly id: string;
  readonly filters: DeliveryFilters;
  readonly subscriptions: readonly Subscription[];
  readonly openedAtMs: number;
  readonly nowMs: number;
}

/** The window ends now: a filter until now matches what came while one looked at it, too. */
export function batchOf({ id, filters, subscriptions, openedAtMs, nowMs }: NewBatch): ResendBatch {
  const { from, to } = windowOf(filters, openedAtMs);
  const { status, statusCode, deviceId } = filters;
  return {
    id,
    fleetId: subscriptions[0]?.fleetId ?? '',
    createdAtMs: nowMs,
    text: filtersText(filters),
    body: {
      startDate: from,
      endDate: to ?? new Date(nowMs).toISOString(),
      ...(status !== '' && { status }),
      ...(statusCode !== '' && { statusCode: Number(statusCode) }),
      ...(deviceId !== '' && { deviceId }),
    },
    items: subscriptions.map((one) => ({ subscriptionId: one.id, replayId: null })),
  };
}

/** The same in each attempt, also from another tab: a subscription gets one replay of a batch. */
export function idempotencyKeyOf(batch: ResendBatch, { subscriptionId }: ResendItem): string {
  return `${batch.id} ${subscriptionId}`;
}

export function withReplay(batch: ResendBatch, { subscriptionId, replayId }: Replay): ResendBatch {
  const items = batch.items.map((item) => (item.subscriptionId === subscriptionId ? { ...item, replayId } : item));
  return { ...batch, items };
}

export interface BatchProgress {
  readonly matched: number;
  readonly sent: number;
  /** Replays that are not over; those that were not created yet are among them. */
  readonly open: number;
}

export function progressOf(items: readonly ResendItem[], replays: readonly Replay[]): BatchProgress {
  const sum = (of: (replay: Replay) => number): number => replays.reduce((total, replay) => total + of(replay), 0);
  return {
    matched: sum(({ progress }) => progress.matched ?? 0),
    sent: sum(({ progress }) => progress.sent),
    open: items.length - replays.filter(isOver).length,
  };
}

export function isOver({ state }: Replay): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Anything may stand in the storage of a browser. */
export function decodeBatch(value: unknown): ResendBatch | null {
  const batch = (value ?? {}) as Partial<Record<keyof ResendBatch, unknown>>;
  const isBatch =
    typeof batch.id === 'string' &&
    typeof batch.fleetId === 'string' &&
    typeof batch.createdAtMs === 'number' &&
    typeof batch.text === 'string' &&
    typeof batch.body === 'object' &&
    Array.isArray(batch.items);
  return isBatch ? (value as ResendBatch) : null;
}
