import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { WebhookAttempt } from '@waypost/domain';
import { attemptOf as sampleOf } from '../../../../test/support/samples.js';
import type { DeliveryFilters } from '../delivery-history/delivery-pages.service.js';

/** Midday, so that the days before and after are at hand. */
export const NOW = Date.UTC(2026, 5, 20, 12);
const DAY_MS = 86_400_000;

/** What a delivery is made of; few values each, so that every filter finds some and ties are common. */
export interface DeliveryPlan {
  readonly event: number;
  readonly series: number;
  readonly device: string;
  readonly type: string;
  readonly subscription: string;
  readonly firstAttemptAt: number;
  /** The answer to each attempt; null: none in time. Those after an accepted or refused one do not happen. */
  readonly answers: readonly (number | null)[];
}

export const SUBSCRIPTIONS = ['a', 'b', 'c'].map((name) => uuidOf(`subscription ${name}`));
const TYPES = ['position', 'position_sleep', 'ignition_on'] as const;
const DEVICES = ['device-1', 'device-2', 'device 3'] as const;
const CODES = [200, 204, 410, 503] as const;

const instant = fc
  .tuple(fc.constantFrom(0, 1, 2), fc.constantFrom(0, 1, 1, 43_199_999, 86_399_999))
  .map(([day, ms]) => Math.floor(NOW / DAY_MS) * DAY_MS - (day + 1) * DAY_MS + ms);

const plan: fc.Arbitrary<DeliveryPlan> = fc.record({
  event: fc.nat(200),
  series: fc.constantFrom(0, 0, 0, 1),
  device: fc.constantFrom(...DEVICES),
  type: fc.constantFrom(...TYPES),
  subscription: fc.constantFrom(...SUBSCRIPTIONS),
  firstAttemptAt: instant,
  answers: fc.array(fc.constantFrom(...CODES, 503, null), { minLength: 5, maxLength: 5 }),
});

/** Something that is written while the walk continues: a new delivery, or the next attempt of the n-th that is pending. */
export type Write =
  | { readonly type: 'begin'; readonly plan: DeliveryPlan }
  | { readonly type: 'continue'; readonly which: number };

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ type: fc.constant('begin' as const), plan }),
  fc.record({ type: fc.constant('continue' as const), which: fc.nat(200) }),
);

const filters: fc.Arbitrary<DeliveryFilters> = fc.record(
  {
    startAt: instant,
    endAt: instant.map((at) => at + DAY_MS),
    eventTypes: fc.uniqueArray(fc.constantFrom(...TYPES, 'test'), { minLength: 1, maxLength: 3 }),
    deviceId: fc.constantFrom(...DEVICES),
    subscriptionId: fc.constantFrom(...SUBSCRIPTIONS),
    statusCode: fc.constantFrom(...CODES),
    status: fc.constantFrom('pending', 'delivered', 'failed'),
  },
  { requiredKeys: [] },
);

/** A walk, what is there when it begins, and what is written beside each of its pages. */
export interface WalkPlan {
  readonly there: readonly DeliveryPlan[];
  readonly filters: DeliveryFilters;
  /** In turn: the limit may change from page to page. */
  readonly limits: readonly number[];
  readonly writes: readonly (readonly Write[])[];
}

function identity({ event, series }: DeliveryPlan): string {
  return `${String(event)}/${String(series)}`;
}

export const anyWalk: fc.Arbitrary<WalkPlan> = fc.record({
  there: fc.uniqueArray(plan, { minLength: 20, maxLength: 60, selector: identity, size: 'max' }),
  // Most walks have one filter or none, which is where pages are many.
  filters: fc.oneof(
    fc.constant<DeliveryFilters>({}),
    fc.constantFrom(...DEVICES).map((deviceId): DeliveryFilters => ({ deviceId })),
    fc.constantFrom('pending' as const, 'delivered' as const).map((status): DeliveryFilters => ({ status })),
    fc.constantFrom(...CODES).map((statusCode): DeliveryFilters => ({ statusCode })),
    filters,
  ),
  limits: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  writes: fc.array(fc.array(write, { maxLength: 6, size: 'max' }), { maxLength: 40, size: 'max' }),
});

/** The n-th attempt of a delivery (from 1 on), as the log has it. */
export function attemptOf(fleetId: string, of: DeliveryPlan, attempt: number): WebhookAttempt {
  const startedAt = of.firstAttemptAt + (attempt - 1) * 2_000;
  const statusCode = of.answers[attempt - 1] ?? null;
  const outcome = outcomeOf(statusCode, attempt);
  return sampleOf({
    eventId: uuidOf(`${fleetId} ${String(of.event)}`),
    subscriptionId: of.subscription,
    fleetId,
    deviceId: of.device,
    eventType: of.type,
    eventTime: of.firstAttemptAt - 1_000,
    series: of.series,
    deliveryCreatedAt: of.firstAttemptAt - 10,
    attempt,
    startedAt,
    firstAttemptAt: of.firstAttemptAt,
    durationMs: 10,
    statusCode,
    errorCode: statusCode === null ? 'timeout' : null,
    outcome,
    decision: outcome,
    nextDueAt: outcome === 'retrying' ? startedAt + 2_000 : null,
    body: attempt === 1 ? `{"of":${String(of.event)}}` : null,
  });
}

/** 2xx is accepted; 503 and no answer are tried again, up to five times. */
function outcomeOf(statusCode: number | null, attempt: number): 'delivered' | 'failed' | 'retrying' {
  if (statusCode !== null && statusCode < 300) return 'delivered';
  return (statusCode === null || statusCode === 503) && attempt < 5 ? 'retrying' : 'failed';
}

export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
