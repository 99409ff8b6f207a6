import { describe, expect, it } from '@jest/globals';
import { ATTEMPT_ERROR_CODES, type AttemptErrorCode } from './decide-attempt.js';
import {
  concernsEndpoint,
  type EndpointAttempt,
  type EndpointHealth,
  healthAfter as decide,
  healthSince,
  type HealthVerdict,
  HEALTHY,
} from './outage-policy.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** With a clock that is never set. */
function healthAfter(before: EndpointHealth, attempt: Omit<EndpointAttempt, 'failingForMs'>): HealthVerdict {
  return decide(before, { ...attempt, failingForMs: attempt.endedAt - (before.failingSince ?? attempt.endedAt) });
}

/** An attempt that is followed by another one. */
function failed(endedAt: number, onOutage = 'hold') {
  return { isAccepted: false, isFailure: false, endedAt, onOutage };
}
function accepted(endedAt: number) {
  return { isAccepted: true, isFailure: false, endedAt, onOutage: 'hold' };
}

/** The health after attempts that end at these times, all of them failures. */
function failing(...times: number[]): EndpointHealth {
  return times.reduce<EndpointHealth>((health, endedAt) => healthAfter(health, failed(endedAt)).health, HEALTHY);
}

describe('The health of an endpoint (R-29)', () => {
  it('remembers since when there are nothing but failures', () => {
    expect(failing(1_000, 2_000, 3_000).failingSince).toBe(1_000);
    expect(healthAfter(failing(1_000, 2_000), accepted(3_000))).toMatchObject({ health: HEALTHY, change: 'none' });
    expect(healthAfter(HEALTHY, accepted(4_000))).toMatchObject({ health: HEALTHY, change: 'none' });
  });

  it('stays the same object while nothing changes, so that it is not written again', () => {
    const before = failing(1_000);
    expect(healthAfter(before, failed(2_000)).health).toBe(before);
  });

  it('suspends a subscription that holds on the first failure that comes 5 minutes after the first', () => {
    const before = failing(0, 5 * minuteMs - 1);
    expect(before.suspendedAt).toBeNull();
    expect(healthAfter(before, failed(5 * minuteMs))).toEqual({
      health: { failingSince: 0, suspendedAt: 5 * minuteMs, failedDays: [] },
      change: 'suspended',
      isDisableDue: false,
    });
  });

  it.each([-60 * minuteMs, 60 * minuteMs])(
    'suspends 5 minutes after the first failure when the clock was set by %d ms meanwhile',
    (stepMs) => {
      const endedAt = 5 * minuteMs + stepMs;
      const before = failing(0);
      const early = decide(before, { ...failed(endedAt), failingForMs: 5 * minuteMs - 1 });
      expect(early).toMatchObject({ change: 'none', health: before });
      expect(decide(before, { ...failed(endedAt), failingForMs: 5 * minuteMs }).change).toBe('suspended');
    },
  );

  it('never suspends a subscription that lets deliveries fail', () => {
    expect(healthAfter(failing(0), failed(60 * minuteMs, 'fail')).change).toBe('none');
  });

  it('suspends once, and is resumed by the first accepted probe', () => {
    const suspended = healthAfter(failing(0), failed(5 * minuteMs)).health;
    expect(healthAfter(suspended, failed(6 * minuteMs))).toMatchObject({ health: suspended, change: 'none' });
    expect(healthAfter(suspended, accepted(7 * minuteMs))).toMatchObject({ health: HEALTHY, change: 'resumed' });
  });

  it('counts from the first failure after an accepted attempt', () => {
    const recovered = healthAfter(failing(0, 4 * minuteMs), accepted(4.5 * minuteMs)).health;
    const again = healthAfter(recovered, failed(5 * minuteMs)).health;
    expect(healthAfter(again, failed(9.9 * minuteMs)).change).toBe('none');
    expect(healthAfter(again, failed(10 * minuteMs)).change).toBe('suspended');
  });

  /** After so many deliveries that failed on each of these days. */
  function failedOn(days: Readonly<Record<number, number>>, before: EndpointHealth = failing(0)): EndpointHealth {
    let health = before;
    for (const [day, count] of Object.entries(days)) {
      for (let n = 0; n < count; n++) {
        const attempt = { ...failed(Number(day) * dayMs + n), isFailure: true };
        health = healthAfter(health, attempt).health;
      }
    }
    return health;
  }
  function isDisableDue(health: EndpointHealth, endedAt: number): boolean {
    return healthAfter(health, failed(endedAt, 'fail')).isDisableDue;
  }

  it.each(['fail', 'hold'])(
    'says that it is time to disable after 7 days of only failures (onOutage: %s)',
    (onOutage) => {
      const before = failedOn({ 1: 6, 2: 7, 6: 7 });
      expect(healthAfter(before, failed(7 * dayMs - 1, onOutage)).isDisableDue).toBe(false);
      expect(healthAfter(before, failed(7 * dayMs, onOutage)).isDisableDue).toBe(true);
      expect(healthAfter(before, accepted(7 * dayMs))).toMatchObject({ isDisableDue: false, health: HEALTHY });
    },
  );

  it('disables after 20 deliveries that failed, not after fewer, and not for attempts alone', () => {
    expect(isDisableDue(failedOn({ 1: 6, 2: 6, 3: 7 }), 7 * dayMs)).toBe(false);
    const last = { ...failed(7 * dayMs), isFailure: true };
    expect(healthAfter(failedOn({ 1: 6, 2: 6, 3: 7 }), last).isDisableDue).toBe(true);
    expect(isDisableDue(failing(...Array.from({ length: 1_000 }, (_, n) => (n * 7 * dayMs) / 1_000)), 7 * dayMs)).toBe(
      false,
    );
  });

  it('disables only when they failed on 3 days, of the last 7', () => {
    expect(isDisableDue(failedOn({ 1: 500, 2: 500 }), 7 * dayMs)).toBe(false);
    expect(isDisableDue(failedOn({ 1: 500, 2: 500, 7: 1 }), 7 * dayMs + 1)).toBe(true);
    expect(isDisableDue(failedOn({ 0: 500, 1: 500, 7: 1 }), 7 * dayMs + 1)).toBe(false);
    expect(isDisableDue(failedOn({ 1: 500, 2: 500, 7: 1 }), 8 * dayMs)).toBe(false);
  });

  it('counts at most 20 a day and only of the last 7, so that it is written rarely and stays small', () => {
    const before = failedOn({ 1: 20 });
    expect(failedOn({ 1: 500 }, before)).toBe(before);
    expect(failedOn(Object.fromEntries(Array.from({ length: 30 }, (_, day) => [day, 25]))).failedDays).toEqual(
      Array.from({ length: 7 }, (_, n) => ({ day: 23 + n, failed: 20 })),
    );
  });
});

describe('the health of an endpoint after its owner has changed the subscription (R-29)', () => {
  const failedDays = [{ day: 0, failed: 20 }];
  const suspended: EndpointHealth = { failingSince: 1_000, suspendedAt: 5 * minuteMs, failedDays };

  it('begins again after failures from before the change, but stays suspended until a probe is accepted', () => {
    expect(healthSince(suspended, 1_001)).toEqual({ failingSince: null, suspendedAt: 5 * minuteMs, failedDays: [] });
  });

  it('stays what it is when the failures began with the change or after it, or there were none', () => {
    for (const updatedAt of [0, 999, 1_000]) expect(healthSince(suspended, updatedAt)).toBe(suspended);
    expect(healthSince(HEALTHY, 2_000)).toBe(HEALTHY);
  });
});

/** Whether an attempt that ended with it says something about the endpoint. */
const CONCERNS: Readonly<Record<AttemptErrorCode, boolean>> = {
  timeout: true,
  dns_error: true,
  connection_refused: true,
  connection_reset: true,
  connection_failed: true,
  tls_error: true,
  protocol_error: true,
  address_refused: true,
  url_refused: true,
  token_error: true,
  secret_unreadable: false,
  subscription_deleted: false,
  subscription_disabled: false,
  subscription_unknown: false,
  expired: false,
  network_error: true,
};

describe('an attempt that failed (R-29)', () => {
  it.each([null, ...ATTEMPT_ERROR_CODES])('counts against its endpoint after %s, if that is to blame', (errorCode) => {
    expect(concernsEndpoint(errorCode)).toBe(errorCode === null || CONCERNS[errorCode]);
  });
});
