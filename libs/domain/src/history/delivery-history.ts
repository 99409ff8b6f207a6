import type { DeliveryRecord, DeliveryStatus } from './delivery-record.js';

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
