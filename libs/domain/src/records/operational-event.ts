// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** Something about its deliveries that the owner of a subscription, or an operator, wants to know. */
export interface OperationalEvent {
  /** A UUID. It stays the same when the record is written again after a crash. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** exhausted | suspended | probed | resumed | disabled */
  readonly type: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** For people, in words. */
  readonly reason: string;
  /** The delivery that it is about; null: it is about the subscription. */
  readonly eventId: string | null;
  /** Offset of that delivery in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number | null;
  /** Of the last attempt or of the probe. */
  readonly statusCode: number | null;
  /** As in webhook.attempts. */
  readonly errorCode: string | null;
}
