import { createHash } from 'node:crypto';

/** A delivery that has to be there: one event for one subscription that wants it. */
export interface ExpectedDelivery {
  /** Of the rules; another for each subscription. */
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly path: string;
  readonly behaviour: EndpointBehaviour;
}

/** A record of webhook.deliveries. */
export interface LoggedDelivery {
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds: when the broker appended it. */
  readonly loggedMs: number;
  readonly bodyHash: string;
}

/** A record of webhook.attempts. Times are epoch milliseconds. */
export interface LoggedAttempt {
  readonly eventId: string;
  readonly partition: number;
  readonly deliveryOffset: number;
  /** When the broker appended it. */
  readonly loggedMs: number;
  readonly attempt: number;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly outcome: string;
  readonly decision: string;
  readonly nextDueAt: number | null;
  readonly bodyHash: string | null;
}

/**
 * A process of webhook-delivery that was killed; or stopped and woken; or stopped and woken while another took its name,
 * so that it had to end. Times are epoch milliseconds, just before the signal. */
export type Interruption =
  | { readonly type: 'killed'; readonly source: string; readonly atMs: number }
  | { readonly type: 'paused'; readonly source: string; readonly atMs: number; readonly resumedMs: number }
  | {
      readonly type: 'replaced';
      readonly source: string;
      readonly atMs: number;
      readonly resumedMs: number;
      /** It is not known when the other had taken over: some time after `atMs` and before this. */
      readonly endedMs: number;
    };

/** All that is known from outside of what webhook-delivery has done. */
export interface Observations {
  readonly expected: readonly ExpectedDelivery[];
  /** In the order of the log, partition by partition. */
  readonly deliveries: readonly LoggedDelivery[];
  /** In the order of the log, partition by partition. */
  readonly attempts: readonly LoggedAttempt[];
  /** In the order of their arrival. */
  readonly receipts: readonly Receipt[];
  readonly interruptions: readonly Interruption[];
}

const DIGITS = 24;

/** Short, as there is one for each of hundreds of thousands of bodies. */
export function bodyHash(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, DIGITS);
}

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

/** How an endpoint treats its callers. It decides by the attempt number, so that a repeat gets the same answer. */
export const BEHAVIOURS = ['healthy', 'slow', 'always-503', 'first-503', 'refuses'] as const;
export type EndpointBehaviour = (typeof BEHAVIOURS)[number];
