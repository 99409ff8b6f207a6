import type { FailedDay } from '../records/subscription-state.js';
import { DAY_MS, MINUTE_MS } from '../time/units.js';

export interface EndpointHealth {
  readonly failingSince: number | null;
  readonly suspendedAt: number | null;
  /** The last 7 days on which deliveries failed and none was accepted. */
  readonly failedDays: readonly FailedDay[];
}

export const HEALTHY: EndpointHealth = Object.freeze({ failingSince: null, suspendedAt: null, failedDays: [] });

/** a subscription is suspended after only failures for this long. */
export const SUSPEND_AFTER_MS = 5 * MINUTE_MS;
export const PROBE_EVERY_MS = 15_000;
export const DISABLE_AFTER_DAYS = 7;
/** How often the report of a failing subscription is repeated. */
export const REPORT_FAILING_EVERY_MS = 2 * 60_000;
/** An older report does not count: after a database outage it may be read when the endpoint works again. */
export const FAILING_REPORT_VALID_MS = 5 * 60_000;
/** a subscription with few deliveries, or a short outage of its endpoint, disables nothing. */
export const DISABLE_AFTER_FAILURES = 20;
export const DISABLE_AFTER_FAILED_DAYS = 3;

const INTERNAL_ERRORS = new Set<string | null>([
  'expired',
  'secret_unreadable',
  'subscription_deleted',
  'subscription_disabled',
  'subscription_unknown',
]);

/** whether an attempt that ended with this error counts as a failure of the endpoint. */
export function concernsEndpoint(errorCode: string | null): boolean {
  return !INTERNAL_ERRORS.has(errorCode);
}

/** failures from before the owner changed or enabled a subscription do not count against it. */
export function healthSince(health: EndpointHealth, updatedAt: number): EndpointHealth {
  return health.failingSince !== null && health.failingSince < updatedAt
    ? { ...HEALTHY, suspendedAt: health.suspendedAt }
    : health;
}

export interface EndpointAttempt {
  readonly isAccepted: boolean;
  /** Whether it was the last attempt of its delivery, and not accepted. */
  readonly isFailure: boolean;
  readonly endedAt: number;
  /** The time since the first of these failures. Monotonic: epoch times of two processes, or of a clock that was set, may mislead. */
  readonly failingForMs: number;
  readonly onOutage: string;
}

export interface HealthVerdict {
  readonly health: EndpointHealth;
  readonly change: 'none' | 'suspended' | 'resumed';
  readonly isDisableDue: boolean;
}

/** The health after an attempt or a probe. */
export function healthAfter(before: EndpointHealth, attempt: EndpointAttempt): HealthVerdict {
  const { isAccepted, isFailure, endedAt, failingForMs, onOutage } = attempt;
  if (isAccepted) {
    const change = before.suspendedAt === null ? 'none' : 'resumed';
    return { health: HEALTHY, change, isDisableDue: false };
  }
  const failingSince = before.failingSince ?? endedAt;
  const failedDays = isFailure ? withFailure(before.failedDays, endedAt) : before.failedDays;
  const isDisableDue = failingForMs >= DISABLE_AFTER_DAYS * DAY_MS && isEnough(recent(failedDays, endedAt));
  const isSuspending = before.suspendedAt === null && onOutage === 'hold' && failingForMs >= SUSPEND_AFTER_MS;
  if (isSuspending) {
    return { health: { failingSince, suspendedAt: endedAt, failedDays }, change: 'suspended', isDisableDue };
  }
  const isSame = failingSince === before.failingSince && failedDays === before.failedDays;
  const health = isSame ? before : { failingSince, suspendedAt: before.suspendedAt, failedDays };
  return { health, change: 'none', isDisableDue };
}

/** @returns the same list if nothing changes */
function withFailure(days: readonly FailedDay[], endedAt: number): readonly FailedDay[] {
  const day = Math.floor(endedAt / DAY_MS);
  const failed = days.find((one) => one.day === day)?.failed ?? 0;
  if (failed === DISABLE_AFTER_FAILURES) return days;
  return [...recent(days, endedAt).filter((one) => one.day !== day), { day, failed: failed + 1 }];
}

function recent(days: readonly FailedDay[], endedAt: number): readonly FailedDay[] {
  const first = Math.floor(endedAt / DAY_MS) - DISABLE_AFTER_DAYS + 1;
  return days.filter(({ day }) => day >= first);
}

function isEnough(days: readonly FailedDay[]): boolean {
  return (
    days.length >= DISABLE_AFTER_FAILED_DAYS &&
    days.reduce((sum, { failed }) => sum + failed, 0) >= DISABLE_AFTER_FAILURES
  );
}
