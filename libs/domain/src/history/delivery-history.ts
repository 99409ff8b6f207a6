import type { FailureReason } from '../delivery/decide-attempt.js';

/** Where a page ended. Unique, and ordered by these fields in this order. */
export interface DeliveryPosition {
  readonly firstAttemptAt: number;
  readonly eventId: string;
  readonly series: number;
  /** A waiting delivery is ordered by its creation, whose time is in `firstAttemptAt`. */
  readonly isWaiting?: true | undefined;
}

export interface DeliveryWalkPosition extends DeliveryPosition {
  /** The window of the whole walk; absent in tokens of older releases. */
  readonly startAt?: number | undefined;
  /** The value of the first page; null: not known. Absent in tokens of older releases. */
  readonly completeUntil?: number | null | undefined;
}

/** A page of one fleet. The window is that of the first attempt, [startAt, endAt). */
export interface DeliveryQuery {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly eventTypes?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly subscriptionIds?: readonly string[] | undefined;
  readonly eventId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Sorts by first attempt, event and series; default `asc`: newest last. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Leaves out what `findWaiting` finds. */
  readonly withoutWaiting?: boolean | undefined;
  readonly limit: number;
  /** A smaller limit than that of a page (R-34a). */
  readonly maxBytes?: number | undefined;
  readonly after?: DeliveryPosition | undefined;
}

/** A page of the deliveries of one event: the first one, and those of replays. */
export interface EventQuery extends Pick<DeliveryQuery, 'fleetId' | 'subscriptionIds' | 'startAt' | 'limit'> {
  readonly eventId: string;
  readonly afterSeries?: number | undefined;
}

export abstract class DeliveryHistory {
  abstract findDeliveries(query: DeliveryQuery): Promise<FoundDeliveries>;
  /**
   * deliveries without an attempt for a while when read, even if they have one by now. Sorted by creation, event
   * and series, which never change. In the window if their creation or first attempt is.
   */
  abstract findWaiting(query: DeliveryQuery): Promise<FoundDeliveries<ShownDelivery>>;
  /** Deliveries with or without an attempt, by series, which never changes: an event belongs to one subscription. */
  abstract findEvent(query: EventQuery): Promise<FoundDeliveries<ShownDelivery>>;
}

export interface FoundDeliveries<Shown = DeliveryRecord> {
  /** In query order, within its limit and the bytes of a page (R-34a), except for a single larger record. */
  readonly records: readonly Shown[];
  readonly bytes: number;
  readonly hasMore: boolean;
  /** Every delivery first attempted before this was projected; null: not known. */
  readonly completeUntil: number | null;
}

export const DELIVERY_STATUSES = ['delivered', 'failed', 'pending'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryRecord {
  readonly eventId: string;
  readonly series: number;
  /** The replay that made it; null for series 0, and for rows from before it was stored. */
  readonly replayId: string | null;
  readonly eventType: string;
  readonly eventTime: number;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly url: string;
  readonly format: string;
  readonly body: string;
  readonly createdAt: number;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly deliveredAt: number | null;
  readonly nextAttemptAt: number | null;
  readonly status: DeliveryStatus;
  readonly statusCode: number | null;
  /** Every attempt, and the first and newest probes. */
  readonly attempts: readonly AttemptEntry[];
}

export interface WaitingDelivery extends Omit<DeliveryRecord, 'firstAttemptAt' | 'lastAttemptAt' | 'url'> {
  readonly firstAttemptAt: null;
  readonly lastAttemptAt: null;
}

export type ShownDelivery = DeliveryRecord | WaitingDelivery;

/** An attempt, a probe, or the end without an attempt. */
export interface AttemptEntry {
  /** For a probe, the attempt that it precedes and does not use up. */
  readonly attempt: number;
  readonly probe: boolean;
  /** Probes of the delivery up to this entry, inclusive. */
  readonly probes: number;
  readonly startedAt: number;
  readonly dueAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: string;
  readonly decision: string;
  readonly errorDetail: string | null;
  /** The beginning of the body of a refusal. */
  readonly responseBody: string | null;
}

/** Decisions of records that end a delivery without sending. */
export const DECISIONS_WITHOUT_ATTEMPT = [
  'expired',
  'subscription_deleted',
  'subscription_disabled',
] as const satisfies readonly FailureReason[];

const WITHOUT_ATTEMPT: ReadonlySet<string> = new Set(DECISIONS_WITHOUT_ATTEMPT);

/** Whether a record is one of the attempts of R-22, not a probe or an end without an attempt. */
export function isAttempt({ probe, decision }: Pick<AttemptEntry, 'probe' | 'decision'>): boolean {
  return !probe && !WITHOUT_ATTEMPT.has(decision);
}

export function attemptCount({ attempts }: Pick<DeliveryRecord, 'attempts'>): number {
  let count = 0;
  for (const entry of attempts) if (isAttempt(entry)) count++;
  return count;
}

/** Counts all probes, with or without an entry. */
export function probeCount({ attempts }: Pick<DeliveryRecord, 'attempts'>): number {
  return attempts.at(-1)?.probes ?? 0;
}

export function deliveryStatus(outcome: string): DeliveryStatus {
  if (outcome === 'expired') return 'failed';
  return outcome === 'delivered' || outcome === 'failed' ? outcome : 'pending';
}
