import { createHash } from 'node:crypto';

/** A delivery that has to be there: one event for one subscription that wants it. In the order of the events. */
export interface ExpectedDelivery extends Identity {
  readonly path: string;
  readonly url: string;
  readonly behavior: EndpointBehavior;
  readonly strictOrder: boolean;
  readonly ratePerSecond: number | null;
  /** By the documents. */
  readonly bodyHash: string;
  /** Of the event; null: it has none, and its trace begins elsewhere. */
  readonly traceparent: string | null;
}

/** What a delivery is about, as the event, the delivery and every attempt must say it. */
export interface Identity {
  /** Of the rules; another for each subscription, and for each series (see `idInSeries`). */
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  readonly eventTime: number;
  readonly format: string;
  readonly series: number;
  /** null: not of a replay. */
  readonly replayId: string | null;
}

export function identityOf(of: Identity): Identity {
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId } = of;
  return { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId };
}

/** A record of webhook.deliveries. */
export interface LoggedDelivery extends Identity {
  readonly partition: number;
  readonly offset: number;
  /** Epoch milliseconds: when the broker appended it. */
  readonly loggedMs: number;
  readonly createdAt: number;
  readonly bodyHash: string;
}

/** A record of webhook.attempts. Times are epoch milliseconds. */
export interface LoggedAttempt extends Identity {
  readonly url: string;
  readonly deliveryCreatedAt: number;
  readonly firstAttemptAt: number;
  readonly partition: number;
  readonly offset: number;
  readonly deliveryOffset: number;
  /** When the broker appended it. */
  readonly loggedMs: number;
  readonly attempt: number;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly errorCode: string | null;
  readonly errorDetail: string | null;
  readonly outcome: string;
  readonly decision: string;
  readonly nextDueAt: number | null;
  /** What the answer has asked for. */
  readonly retryAfterMs: number | null;
  readonly bodyHash: string | null;
  readonly probe: boolean;
  readonly probes: number;
}

/**
 * A process of webhook-delivery that was killed; or stopped and woken; or stopped and woken while another took its name,
 * so that it had to end; or lost its way to the brokers. Times are epoch milliseconds, just before the signal.
 */
export type Interruption =
  | { readonly type: 'killed'; readonly source: string; readonly atMs: number }
  | { readonly type: 'paused'; readonly source: string; readonly atMs: number; readonly resumedMs: number }
  | {
      readonly type: 'replaced' | 'cut-off';
      readonly source: string;
      readonly atMs: number;
      readonly resumedMs: number;
      /** It is not known when another had taken over: some time after `atMs` and before this. */
      readonly endedMs: number;
    };

/** When nothing more came of it: for one that has lost its name, at the latest. */
export function endOf(at: Interruption): number {
  return at.type === 'killed' ? at.atMs : at.type === 'paused' ? at.resumedMs : at.endedMs;
}

/** When a subscription was paused, by the records of its versions. Epoch milliseconds. */
export interface Pause {
  readonly subscriptionId: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What the owner of a subscription may change while its events flow. */
export interface Settings {
  /** `deleted`, or as in its record. */
  readonly status: string;
  readonly eventType: string;
  /** null: every device. */
  readonly deviceIds: readonly string[] | null;
  readonly url: string;
  readonly ratePerSecond: number | null;
  /** Which of its secrets sign, as the receiver says it (see `Receipt`). */
  readonly signers: string;
}

/** Epoch milliseconds. */
export interface SettingsVersion {
  readonly subscriptionId: string;
  readonly settings: Settings;
  /** Just before its record was written. */
  readonly fromMs: number;
  /** When the broker had it: what is fanned out later has read it. */
  readonly knownMs: number;
  /** From then on every process that is not disturbed sends by it. */
  readonly settledMs: number;
}

/** All that is known from outside of what webhook-delivery has done. */
export interface Observations {
  readonly expected: readonly ExpectedDelivery[];
  /** In the order of the log, partition by partition. */
  readonly deliveries: readonly LoggedDelivery[];
  /** In the order of the log, partition by partition. */
  readonly attempts: readonly LoggedAttempt[];
  /** In the order of their arrival. */
  readonly receipts: readonly Receipt[];
  /** In the order of their arrival. */
  readonly tokenRequests: readonly TokenRequest[];
  readonly interruptions: readonly Interruption[];
  /** Of the subscriptions that were changed, in their order: what they were at first, and each change. */
  readonly versions: readonly SettingsVersion[];
  readonly cancels: readonly Cancel[];
  /** Of the subscriptions that hold through an outage, in the order of the log. */
  readonly outageReports: readonly OutageReport[];
  readonly outageTimes: OutageTimes;
}

/** What the log says of an outage to the owner of a subscription. */
export interface OutageReport {
  readonly subscriptionId: string;
  readonly type: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
}

/** */
export interface OutageTimes {
  readonly suspendAfterMs: number;
  readonly probeEveryMs: number;
}

/** Of a replay. */
export interface Cancel {
  readonly replayId: string;
  /** Epoch milliseconds: when the broker had it. */
  readonly knownMs: number;
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
  /** What is wrong with its signatures and headers; null: nothing. */
  readonly requestProblem: string | null;
  /** The numbers of the secrets of its endpoint that its signatures are of: `0`, `1` or `01`. */
  readonly signers: string;
  /** Epoch milliseconds, a whole second: the time that its signatures are over. */
  readonly signedMs: number;
  readonly traceparent: string;
  /** Its bearer token; null: it has none. */
  readonly token: string | null;
  /** What was answered; null: the caller had gone by then. */
  readonly status: number | null;
  /** Epoch milliseconds: when that was; null: it was not answered. */
  readonly answeredMs: number | null;
}

/** What the token endpoint remembers of one request. */
export interface TokenRequest {
  readonly source: string;
  /** The subscription that it names. */
  readonly clientId: string;
  /** What is wrong with it; null: it was answered with a new token. */
  readonly problem: string | null;
}

/** How an endpoint treats its callers. It decides by event and attempt number, so that a repeat gets the same answer. */
export const BEHAVIORS = [
  ...(['healthy', 'slow', 'always-503', 'first-503', 'refuses', 'fixed'] as const),
  /** Some first attempts get a 429 with a Retry-After. */
  'busy',
  /** Some first attempts get a 401, whatever their token is. */
  'unauthorized',
  /** Some first attempts are not answered. */
  'silent',
  /** 404 or 410. */
  'gone',
  'redirects',
] as const;

/** `outage`: 503 until it is repaired, for a subscription that holds: that is judged apart. */
export type EndpointBehavior = (typeof BEHAVIORS)[number] | 'outage';
