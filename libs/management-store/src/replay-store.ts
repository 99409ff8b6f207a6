import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import type { SubscriptionRef } from './subscription-store.js';

/** What a caller asks for; the store adds series, version and times. */
export type NewReplay = Pick<
  WebhookReplay,
  'replayId' | 'startDate' | 'endDate' | 'status' | 'eventType' | 'deviceId' | 'ratePerSecond'
>;

/** A replay and what its progress topic said of it last; null: nothing yet. */
export interface StoredReplay {
  readonly replay: WebhookReplay;
  readonly progress: Pick<ReplayProgress, 'state' | 'matched' | 'sent' | 'startedAt' | 'updatedAt'> | null;
}

export type CreateReplayResult =
  | { readonly type: 'created'; readonly stored: StoredReplay; readonly outboxIds: readonly string[] }
  /** So many replays of the subscription are not over. */
  | { readonly type: 'too_many' }
  | { readonly type: 'not_found' };

export type CancelReplayResult =
  | { readonly type: 'changed'; readonly stored: StoredReplay; readonly outboxIds: readonly string[] }
  /** It is over, or was cancelled before. */
  | { readonly type: 'unchanged'; readonly stored: StoredReplay }
  | { readonly type: 'not_found' };

export interface ReplayQuery {
  readonly ref: SubscriptionRef;
  readonly limit: number;
  /** Only those of a lower series; null: from the newest on. */
  readonly beforeSeries: number | null;
}

/** Of one subscription, so many replays may be unfinished. */
export const UNFINISHED_REPLAYS = 3;

/** By then its deliveries are gone from the log: whatever was not written will never be. */
export const REPLAY_KEPT_MS = 16 * 86_400_000;

/**
 * Replays of subscriptions. Every change and its outbox row are one SQL transaction. `nowMs` is the caller's
 * clock. A subscription of another fleet is not found.
 */
export interface ReplayStore {
  /** Gives the next series of the subscription, and forgets replays that are older than REPLAY_KEPT_MS. */
  create(ref: SubscriptionRef, replay: NewReplay, nowMs: number): Promise<CreateReplayResult>;
  /** Newest first. */
  list(query: ReplayQuery): Promise<readonly StoredReplay[]>;
  get(ref: SubscriptionRef, replayId: string): Promise<StoredReplay | null>;
  cancel(ref: SubscriptionRef, replayId: string, nowMs: number): Promise<CancelReplayResult>;
  /** Takes over what the topic says, in its order. Older progress, and that of replays that are gone, changes nothing. */
  recordProgress(progress: readonly ReplayProgress[]): Promise<void>;
}
