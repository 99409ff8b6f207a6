import type { ChangeStores } from './change-stores.js';

/** One idempotency key: it belongs to a fleet and a route. */
export interface IdempotencyRef {
  readonly fleetId: string;
  /** Method and path template, such as `POST /public/v1/geofences`. */
  readonly route: string;
  readonly key: string;
}

/** What a request was answered. */
export interface KeptAnswer {
  /** The request's fingerprint and the answer, sealed: the answer may hold a secret that is shown once. */
  readonly sealed: string;
  /** Outbox rows of the change, for whoever waits until it is published. */
  readonly outboxIds: readonly string[];
}

export type ChangeOnceResult<T> =
  | { readonly type: 'made'; readonly made: T }
  /** The change was made before. */
  | { readonly type: 'kept'; readonly answer: KeptAnswer }
  /** Another request with this key is at work. */
  | { readonly type: 'in_progress' };

export const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;

/** Answers of requests that carried an idempotency key, for IDEMPOTENCY_KEPT_MS. */
export interface IdempotencyStore {
  find(ref: IdempotencyRef, nowMs: number): Promise<KeptAnswer | null>;
  /**
   * Makes a change and keeps its answer in the same SQL transaction: after a crash both are there or neither. A change
   * that throws leaves nothing. `change` must use the stores that it is given, and wait for nothing but them.
   */
  once<T>(
    ref: IdempotencyRef,
    nowMs: number,
    change: (stores: ChangeStores) => Promise<{ readonly made: T; readonly answer: KeptAnswer }>,
  ): Promise<ChangeOnceResult<T>>;
}
