// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One version of a request to send deliveries again. */
export interface WebhookReplay {
  /** UUID. */
  readonly replayId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** Of the deliveries that it makes: the n-th replay of the subscription. */
  readonly series: number;
  /** Inclusive; compared with the time of the first attempt (epoch milliseconds). */
  readonly startDate: number;
  /** Exclusive (epoch milliseconds). */
  readonly endDate: number;
  /** delivered | failed | pending; null: any. */
  readonly status: string | null;
  /** Of the last attempt; null: any, or no response. */
  readonly statusCode: number | null;
  /** null: any. */
  readonly eventType: string | null;
  /** null: any. */
  readonly deviceId: string | null;
  /** Only this event; null: any. */
  readonly eventId: string | null;
  /** Deliveries written per second, at most. */
  readonly ratePerSecond: number;
  readonly cancelled: boolean;
  /** Counts every change, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}
