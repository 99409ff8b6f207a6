import { describe, expect, it } from '@jest/globals';
import { type EndpointHealth, healthAfter, HEALTHY } from './endpoint-health.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;
function failed(endedAt: number, onOutage = 'hold') {
  return { isAccepted: false, endedAt, onOutage };
}
function accepted(endedAt: number) {
  return { isAccepted: true, endedAt, onOutage: 'hold' };
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
      health: { failingSince: 0, suspendedAt: 5 * minuteMs },
      change: 'suspended',
      isDisableDue: false,
    });
  });

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

  it.each(['fail', 'hold'])(
    'says that it is time to disable after 7 days of only failures (onOutage: %s)',
    (onOutage) => {
      const before = failing(0);
      expect(healthAfter(before, failed(7 * dayMs - 1, onOutage)).isDisableDue).toBe(false);
      expect(healthAfter(before, failed(7 * dayMs, onOutage)).isDisableDue).toBe(true);
      expect(healthAfter(before, accepted(7 * dayMs)).isDisableDue).toBe(false);
    },
  );
});
