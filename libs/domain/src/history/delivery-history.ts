/** Where a page ended. Positions are ordered by these three fields, in this order; no two deliveries share one. */
export interface DeliveryPosition {
  readonly firstAttemptAt: number;
  readonly eventId: string;
  readonly series: number;
}

/** A page of deliveries of one fleet. The window is that of the first attempt. */
export interface DeliveryQuery {
  readonly fleetId: string;
  /** Inclusive, epoch milliseconds. */
  readonly startAt: number;
  /** Exclusive, epoch milliseconds. */
  readonly endAt: number;
  /** Any of these; absent: every type. */
  readonly eventTypes?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Of the newest attempt. */
  readonly statusCode?: number | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly limit: number;
  /** Only deliveries behind this position. */
  readonly after?: DeliveryPosition | undefined;
}

/** Port of the query side. */
export interface DeliveryHistory {
  /** At most `limit` deliveries in the order of their positions, newest last. */
  findDeliveries(query: DeliveryQuery): Promise<DeliveryRecord[]>;
}

export type DeliveryStatus = 'delivered' | 'failed' | 'pending';

/** A delivery with all of its attempts, as the history keeps it. Times are epoch milliseconds. */
export interface DeliveryRecord {
  readonly eventId: string;
  readonly series: number;
  readonly eventType: string;
  readonly eventTime: number;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** Where the newest attempt went. */
  readonly url: string;
  /** v1 | legacy-v1 */
  readonly format: string;
  /** The exact text that was sent. */
  readonly body: string;
  readonly createdAt: number;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly deliveredAt: number | null;
  /** Only while pending. */
  readonly nextAttemptAt: number | null;
  readonly status: DeliveryStatus;
  /** Of the newest attempt; null when that one had no response. */
  readonly statusCode: number | null;
  /** By number, from 1. */
  readonly attempts: readonly AttemptEntry[];
}

/** One attempt within a DeliveryRecord; the values are those of the attempts log. */
export interface AttemptEntry {
  readonly attempt: number;
  readonly startedAt: number;
  readonly dueAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: string;
  readonly decision: string;
}

/** What an attempt's outcome makes of its delivery: anything that does not end it leaves it pending. */
export function deliveryStatus(outcome: string): DeliveryStatus {
  return outcome === 'delivered' || outcome === 'failed' ? outcome : 'pending';
}
