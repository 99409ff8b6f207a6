/** Where a page ended. Unique, and ordered by these fields in this order. */
export interface DeliveryPosition {
  readonly firstAttemptAt: number;
  readonly eventId: string;
  readonly series: number;
}

/** A page of one fleet. The window is that of the first attempt, [startAt, endAt). */
export interface DeliveryQuery {
  readonly fleetId: string;
  readonly startAt: number;
  readonly endAt: number;
  readonly eventTypes?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly limit: number;
  readonly after?: DeliveryPosition | undefined;
}

export interface DeliveryHistory {
  findDeliveries(query: DeliveryQuery): Promise<DeliveryRecord[]>;
}

export type DeliveryStatus = 'delivered' | 'failed' | 'pending';

export interface DeliveryRecord {
  readonly eventId: string;
  readonly series: number;
  readonly eventType: string;
  readonly eventTime: number;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly url: string;
  readonly format: string;
  /** */
  readonly body: string;
  readonly createdAt: number;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly deliveredAt: number | null;
  readonly nextAttemptAt: number | null;
  readonly status: DeliveryStatus;
  readonly statusCode: number | null;
  readonly attempts: readonly AttemptEntry[];
}

/** */
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

/** An outcome that does not end the delivery leaves it pending. */
export function deliveryStatus(outcome: string): DeliveryStatus {
  if (outcome === 'expired') return 'failed';
  return outcome === 'delivered' || outcome === 'failed' ? outcome : 'pending';
}
