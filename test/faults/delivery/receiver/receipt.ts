/** What the receiver remembers of one POST. */
export interface Receipt {
  /** Epoch milliseconds: when its head had come in. */
  readonly receivedMs: number;
  /** The address that it came from: each process of webhook-delivery has its own. */
  readonly source: string;
  readonly path: string;
  /** Of `webhook-id`. */
  readonly eventId: string;
  /** Of `X-Service-Attempt`. */
  readonly attempt: number;
  readonly bodyHash: string;
  /** What is wrong with its signatures; null: they verify. */
  readonly signatureProblem: string | null;
  /** What was answered; null: the caller had gone by then. */
  readonly status: number | null;
}
