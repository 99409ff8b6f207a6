// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One event for one subscription, with its final body. */
export interface WebhookDelivery {
  /** UUIDv5. */
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** v1 | legacy-v1 */
  readonly format: string;
  /** The exact UTF-8 text that is signed, sent, stored and returned. */
  readonly body: string;
  /** When the fan-out wrote it, by its clock (epoch milliseconds). */
  readonly createdAt: number;
  /** 0: the first sending; n: the n-th replay. */
  readonly series: number;
  readonly replayId: string | null;
}
