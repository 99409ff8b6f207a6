import { clampWindow, DEFAULT_REPLAY_RATE_PER_SECOND } from '@waypost/domain';
import {
  type ManagementStore,
  type StoredReplay,
  type SubscriptionRef,
  UNFINISHED_REPLAYS,
} from '@waypost/management-store';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { ApiError, invalidBody, notFound } from '../errors/api-error.js';
import { noSuchSubscription, notActive } from '../subscriptions/subscription-refusals.js';
import { instantOf, type ReplayBody } from './replay-body.js';
import { type ReplayResource, toReplayResource } from './replay-resource.js';

export interface ReplayServiceDeps {
  readonly store: Pick<ManagementStore, 'subscriptions' | 'replays'>;
  readonly newId: () => string;
  readonly now: () => number;
  /** Resolves when these changes are published, or after a while all the same: they are durable. */
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
}

/** Replays of one subscription. @throws ApiError for every refusal */
export interface ReplayService {
  create(ref: SubscriptionRef, body: ReplayBody, change: MakeChange<ReplayResource>): Promise<ReplayResource>;
  /** Newest first, at most `limit`. */
  list(ref: SubscriptionRef, page: { limit: number; beforeSeries: number | null }): Promise<ReplayResource[]>;
  get(ref: SubscriptionRef, replayId: string): Promise<ReplayResource>;
  /** The same again, and of one that is over, changes nothing. */
  cancel(ref: SubscriptionRef, replayId: string): Promise<ReplayResource>;
}

export function createReplayService({ store, newId, now, untilPublished }: ReplayServiceDeps): ReplayService {
  async function requireSubscription(ref: SubscriptionRef) {
    const subscription = await store.subscriptions.get(ref);
    if (subscription === null) throw noSuchSubscription();
    return subscription;
  }

  const create: ReplayService['create'] = async (ref, body, change) => {
    const { status } = await requireSubscription(ref);
    if (status !== 'active') throw notActive(status);
    const nowMs = now();
    const { startAt, endAt } = windowOf(body, nowMs);
    const replay = {
      replayId: newId(),
      startDate: startAt,
      endDate: endAt,
      status: body.status ?? null,
      eventType: body.eventType ?? null,
      deviceId: body.deviceId ?? null,
      ratePerSecond: body.ratePerSecond ?? DEFAULT_REPLAY_RATE_PER_SECOND,
    };
    return change(async (stores) => {
      const result = await stores.replays.create(ref, replay, nowMs);
      if (result.type === 'not_found') throw noSuchSubscription();
      if (result.type === 'too_many') throw tooManyReplays();
      return { answer: toReplayResource(result.stored), outboxIds: result.outboxIds };
    });
  };

  async function found(ref: SubscriptionRef, stored: StoredReplay | null): Promise<StoredReplay> {
    await requireSubscription(ref);
    if (stored === null) throw noSuchReplay();
    return stored;
  }

  async function cancel(ref: SubscriptionRef, replayId: string): Promise<ReplayResource> {
    await requireSubscription(ref);
    const result = await store.replays.cancel(ref, replayId, now());
    if (result.type === 'not_found') throw noSuchReplay();
    if (result.type === 'changed') await untilPublished(result.outboxIds);
    return toReplayResource(result.stored);
  }

  return {
    create,
    async list(ref, page) {
      await requireSubscription(ref);
      return (await store.replays.list({ ref, ...page })).map(toReplayResource);
    },
    get: async (ref, replayId) => toReplayResource(await found(ref, await store.replays.get(ref, replayId))),
    cancel,
  };
}

/** @throws ApiError 400: what lies wholly before the retention cannot be sent again */
function windowOf({ startDate, endDate }: ReplayBody, nowMs: number): { startAt: number; endAt: number } {
  const window = clampWindow({ startAt: instantOf(startDate), endAt: instantOf(endDate) }, nowMs);
  if (window.type === 'window') return window;
  const message = 'must lie within the last 15 days: nothing older is kept';
  throw invalidBody([{ field: 'endDate', message }]);
}

export function noSuchReplay(): ApiError {
  return notFound('There is no such replay.');
}

function tooManyReplays(): ApiError {
  const message = `${String(UNFINISHED_REPLAYS)} replays of this subscription are not over: wait for one, or cancel one.`;
  return new ApiError(409, 'too_many_replays', message);
}
