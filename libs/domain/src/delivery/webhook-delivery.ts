/** One event for one subscription, its body frozen, as the schema `webhook.deliveries-value` has it. */
export interface WebhookDelivery {
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** v1 | legacy-v1 */
  readonly format: string;
  /** The exact text that is signed, sent, stored and returned. */
  readonly body: string;
  /** Clock of the fan-out, epoch milliseconds. */
  readonly createdAt: number;
  /** 0: the first sending; n: the n-th replay. */
  readonly series: number;
  readonly replayId: string | null;
}
