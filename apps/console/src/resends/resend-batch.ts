import { type CreateReplay, type Output, type Replay, type Subscription, WaypostApiError } from '@waypost/client';
import { datedFiltersText, type DeliveryFilters, windowOf } from '../filters/delivery-filters.js';
import { isMissing } from '../shared/is-missing.js';
import { countText } from '../shared/time-text.js';

/** Everything that a filter matched, sent again: one replay per subscription. It is kept in the browser that began it. */
export interface ResendBatch {
  readonly id: string;
  readonly fleetId: string;
  readonly createdAtMs: number;
  /** The filter with its window, for people. */
  readonly text: string;
  readonly body: CreateReplay;
  readonly items: readonly ResendItem[];
}

export interface ResendItem {
  readonly subscriptionId: string;
  /** null: the replay has not been created yet. */
  readonly replayId: string | null;
  /** Why the API refused to create it, when it was last asked. */
  readonly refusal?: string;
}

/** The browser keeps what became of each, and asks for it until it is over. */
export const MOST_CANDIDATES = 1_000;

/** Of each subscription: what the API takes for a replay that does not say otherwise. */
export const RESENT_PER_SECOND = 500;

/** Of several subscriptions, whose replays run side by side. `hasMore`: not all of it was counted. */
export function totalOf(counts: readonly Output<'countResendable'>[]) {
  return {
    deliveries: counts.reduce((sum, { deliveries }) => sum + deliveries, 0),
    hasMore: counts.some(({ hasMore }) => hasMore),
    leastMs: (Math.max(0, ...counts.map(({ deliveries }) => deliveries)) * 1_000) / RESENT_PER_SECOND,
  };
}

/** A count of none may be a lower bound: such a subscription gets its replay. */
export function mayMatch(count: Output<'countResendable'> | undefined): boolean {
  return count === undefined || count.deliveries > 0 || count.hasMore;
}

/** The subscriptions that can have deliveries of a filter, as far as they are known. */
export interface Candidates {
  readonly state: 'loading' | 'failed' | 'incomplete' | 'complete';
  readonly subscriptions: readonly Subscription[];
}

/** Why a filter cannot be resent as a whole; null: it can. */
export function obstacleOf(
  { eventId, payload, eventTypes }: DeliveryFilters,
  { state }: Pick<Candidates, 'state'>,
): string | null {
  if (eventId !== '') return 'One event is resent on its own page.';
  if (payload !== '') return 'A replay cannot be limited to a payload field. Remove that filter.';
  if (eventTypes.length > 0 && eventTypes.every((type) => type === 'test')) return 'Test events are not resent.';
  return OBSTACLES[state];
}

const OBSTACLES: Readonly<Record<Candidates['state'], string | null>> = {
  loading: 'Looking up the subscriptions.',
  failed: 'The subscriptions could not be read. Close this dialog and open it again.',
  incomplete: `The fleet has more subscriptions than one resend takes, ${countText(MOST_CANDIDATES)} at most. Choose one of them in the filter.`,
  complete: null,
};

/** The subscriptions that can have deliveries of the filter. */
export function concerned(filters: DeliveryFilters, subscriptions: readonly Subscription[]): Subscription[] {
  const { subscriptionId, eventTypes, deviceId } = filters;
  return subscriptions.filter(
    ({ id, eventType, deviceIds }) =>
      (subscriptionId === '' || id === subscriptionId) &&
      (eventTypes.length === 0 || eventTypes.some((type) => type === eventType)) &&
      (deviceId === '' || deviceIds === undefined || deviceIds.includes(deviceId)),
  );
}

/** The API refuses a replay of one that is paused or disabled: those are named, and left out. */
export function parted(subscriptions: readonly Subscription[]) {
  const isActive = ({ status }: Subscription): boolean => status === 'active';
  return { active: subscriptions.filter(isActive), stopped: subscriptions.filter((one) => !isActive(one)) };
}

interface NewBatch {
  readonly id: string;
  readonly filters: DeliveryFilters;
  readonly subscriptions: readonly Subscription[];
  readonly openedAtMs: number;
  readonly nowMs: number;
}

/** The window ends now: a filter until now matches what came while one looked at it as well. */
export function batchOf({ id, filters, subscriptions, openedAtMs, nowMs }: NewBatch): ResendBatch {
  const { from, to } = windowOf(filters, openedAtMs);
  const endDate = to ?? new Date(nowMs).toISOString();
  const { status, statusCode, deviceId } = filters;
  return {
    id,
    fleetId: subscriptions[0]?.fleetId ?? '',
    createdAtMs: nowMs,
    text: datedFiltersText(filters, { from, to: endDate }),
    body: {
      startDate: from,
      endDate,
      ...(status !== '' && { status }),
      ...(statusCode !== '' && { statusCode: Number(statusCode) }),
      ...(deviceId !== '' && { deviceId }),
    },
    items: subscriptions.map((one) => ({ subscriptionId: one.id, replayId: null })),
  };
}

/** The same in each attempt, also from another tab: a subscription gets one replay of a batch. */
export function idempotencyKeyOf(batch: ResendBatch, { subscriptionId }: ResendItem): string {
  return `${batch.id} ${subscriptionId}`;
}

function withItem(batch: ResendBatch, item: ResendItem): ResendBatch {
  const items = batch.items.map((one) => (one.subscriptionId === item.subscriptionId ? item : one));
  return { ...batch, items };
}

interface Creation {
  readonly create: (item: ResendItem) => Promise<Replay>;
  /** Called with what became of each. */
  readonly save: (batch: ResendBatch) => void;
  /** Ends it before the next one. */
  readonly signal: AbortSignal;
}

/**
 * Creates the replays that do not exist yet, one after the other: a fleet may have hundreds. A refusal that is about one
 * subscription is noted, and the next one has its turn.
 * @throws what concerns all of them, such as a connection that is lost
 */
export async function createMissing(batch: ResendBatch, { create, save, signal }: Creation): Promise<void> {
  let current = batch;
  for (const item of batch.items) {
    if (signal.aborted) return;
    if (item.replayId !== null) continue;
    current = withItem(current, await created(item, create));
    save(current);
  }
}

async function created(item: ResendItem, create: (item: ResendItem) => Promise<Replay>): Promise<ResendItem> {
  const { subscriptionId } = item;
  try {
    return { subscriptionId, replayId: (await create(item)).replayId };
  } catch (error) {
    if (!isOfOne(error)) throw error;
    return { subscriptionId, replayId: null, refusal: error.message };
  }
}

/** Whatever else the API refuses, such as the key or the window, it refuses for every item. */
function isOfOne(error: unknown): error is WaypostApiError {
  if (isMissing(error)) return true;
  return error instanceof WaypostApiError && OF_ONE.includes(error.code);
}

const OF_ONE: readonly string[] = ['subscription_not_active', 'too_many_replays'];

/**
 * Cancels replays one after the other, past those that are gone.
 * @throws the first error, after all of them had their turn
 */
export async function cancelCreated(
  items: readonly ResendItem[],
  cancel: (created: { readonly subscriptionId: string; readonly replayId: string }) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const { subscriptionId, replayId } of items) {
    if (replayId === null) continue;
    try {
      await cancel({ subscriptionId, replayId });
    } catch (error) {
      if (!isMissing(error)) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

export interface BatchProgress {
  readonly matched: number;
  readonly sent: number;
  /** Replays that are not over; those that were not created yet are among them. */
  readonly open: number;
  /** Subscriptions whose replay was refused. */
  readonly refused: number;
}

/** `gone`: how many of the replays do not exist any more. */
export function progressOf(items: readonly ResendItem[], replays: readonly Replay[], gone = 0): BatchProgress {
  const sum = (of: (replay: Replay) => number): number => replays.reduce((total, replay) => total + of(replay), 0);
  const refused = items.filter(({ replayId, refusal }) => replayId === null && refusal !== undefined).length;
  return {
    matched: sum(({ progress }) => progress.matched ?? 0),
    sent: sum(({ progress }) => progress.sent),
    open: items.length - refused - gone - replays.filter(isOver).length,
    refused,
  };
}

export function isOver({ state }: Replay): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** After a day the service has forgotten the keys that keep a replay from being created twice. */
const CONTINUED_WITHIN_MS = 23 * 3_600_000;

/** Whether replays of it are missing that can still be created. */
export function canContinue({ createdAtMs, items }: ResendBatch, nowMs: number): boolean {
  return items.some(({ replayId }) => replayId === null) && nowMs - createdAtMs < CONTINUED_WITHIN_MS;
}

interface Known {
  /** How many of the replays do not exist any more. */
  readonly gone: number;
  readonly nowMs: number;
}

/** Without its record a replay is hard to find: not while one is unknown or continues, nor before the first was asked for. */
export function isForgettable(batch: ResendBatch, replays: readonly Replay[], { gone, nowMs }: Known): boolean {
  const created = batch.items.filter(({ replayId }) => replayId !== null).length;
  const isBegun = created > 0 || batch.items.some(({ refusal }) => refusal !== undefined);
  return replays.length + gone === created && replays.every(isOver) && (isBegun || !canContinue(batch, nowMs));
}

/** Anything may stand in the storage of a browser. */
export function decodeBatch(value: unknown): ResendBatch | null {
  const batch = (value ?? {}) as Partial<Record<keyof ResendBatch, unknown>>;
  const isBatch =
    typeof batch.id === 'string' &&
    typeof batch.fleetId === 'string' &&
    typeof batch.createdAtMs === 'number' &&
    typeof batch.text === 'string' &&
    typeof batch.body === 'object' &&
    Array.isArray(batch.items);
  return isBatch ? (value as ResendBatch) : null;
}
