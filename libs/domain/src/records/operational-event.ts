// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** Something that the owner of a subscription, or an operator, wants to know of its deliveries. */
export interface OperationalEvent {
  /** UUID; the same when it is reported again after a crash. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** exhausted | suspended | probed | resumed | disabled */
  readonly type: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** In words, for people. */
  readonly reason: string;
  /** The delivery that it is about. */
  readonly eventId: string | null;
  /** Its offset in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number | null;
  /** Of the last attempt or of the probe. */
  readonly statusCode: number | null;
  /** As in webhook.attempts. */
  readonly errorCode: string | null;
}
