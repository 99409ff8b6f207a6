/** What somebody asked to be sent again, as the schema `webhook.replays-value` has it. Times: epoch milliseconds. */
export interface WebhookReplay {
  /** UUID. */
  readonly replayId: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** Of the deliveries that it makes: the n-th replay of the subscription, from 1. */
  readonly series: number;
  /** Of the first attempt, inclusive. */
  readonly startDate: number;
  /** Exclusive. */
  readonly endDate: number;
  /** delivered | failed | pending; null: any. */
  readonly status: string | null;
  /** null: any. */
  readonly eventType: string | null;
  /** null: any. */
  readonly deviceId: string | null;
  /** Deliveries written per second, at most. */
  readonly ratePerSecond: number;
  readonly cancelled: boolean;
  /** Counts every change, from 1. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** How far a replay has come, as the schema `webhook-delivery.replay-progress-value` has it. Times: epoch milliseconds. */
export interface ReplayProgress {
  readonly replayId: string;
  readonly subscriptionId: string;
  /** A ReplayProgressState. */
  readonly state: string;
  /** What is selected is decided by the attempts before this offset, also after a restart. */
  readonly attemptsEnd: number;
  /** Original deliveries before this offset are done with. */
  readonly nextDeliveryOffset: number;
  /** Deliveries that match; null: not yet counted. */
  readonly matched: number | null;
  /** Deliveries written so far. */
  readonly sent: number;
  readonly startedAt: number;
  readonly updatedAt: number;
}

export type ReplayProgressState = 'running' | 'completed' | 'cancelled';

/** Whether nothing more comes of it. */
export function isReplayOver({ state }: Pick<ReplayProgress, 'state'>): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Unless the caller says otherwise: 100,000 deliveries in 200 s, beside which live events still get through. */
export const DEFAULT_REPLAY_RATE_PER_SECOND = 500;
export const MAX_REPLAY_RATE_PER_SECOND = 10_000;
