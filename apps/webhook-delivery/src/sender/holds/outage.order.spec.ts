import { describe, expect, it } from '@jest/globals';
import { subscriptionOf } from '../../../../../test/support/samples.js';
import type { AttemptOutcome } from '../attempts/attempt-record.js';
import { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Outage } from './outage.js';

const MINUTE = 60_000;

/** An outage whose calls are written down, each with whether the backlog was held at that time. */
function watched() {
  const clock = new ManualClock();
  const backlog = new SubscriptionBacklog('subscription-1');
  const calls: string[] = [];
  const wrote = (call: string): void => void calls.push(`${call}${backlog.isHeld ? ' (held)' : ''}`);
  const subscription = subscriptionOf({ id: 'subscription-1', onOutage: 'hold' });
  const outage = new Outage({
    directory: { get: () => subscription, isPaused: () => false },
    log: { publish: ({ type }) => wrote(`publish ${type}`) },
    states: { watch: () => undefined },
    metrics: { suspendedChanged: () => undefined },
    timers: clock,
    random: () => 0,
    nowMs: clock.monotonicMs,
    monotonicMs: clock.monotonicMs,
    hold: () => wrote('hold'),
    release: () => wrote('release'),
    probe: () => {
      wrote(`probe at ${String(clock.atMs / 1_000)} s`);
      return true;
    },
  });
  const end = (fields: Partial<AttemptOutcome>): void => {
    const ended = { epochMs: clock.atMs, monotonicMs: clock.atMs };
    const about = { eventId: 'event-1', fleetId: 'fleet-1', deliveryOffset: 1, statusCode: 503, errorCode: null };
    outage.ended(backlog, { ...about, isAccepted: false, isFailure: false, retryAfterMs: null, ended, ...fields });
  };
  return { clock, calls, end };
}

describe('what the end of an attempt leads to (R-29)', () => {
  it('is a backlog that counts as held before its deliveries are, and then the report', () => {
    const { clock, calls, end } = watched();
    end({});
    clock.passMs(5 * MINUTE);
    end({});
    expect(calls).toEqual(['hold (held)', 'publish suspended (held)']);
  });

  it('is a first probe that its own Retry-After puts off (R-22)', () => {
    const { clock, calls, end } = watched();
    end({});
    clock.passMs(5 * MINUTE);
    end({ retryAfterMs: MINUTE });
    clock.passMs(MINUTE);
    expect(calls.slice(2)).toEqual(['probe at 360 s (held)']);
  });

  it('is a backlog that no longer counts as held, a report, and only then deliveries that go on', () => {
    const { clock, calls, end } = watched();
    end({});
    clock.passMs(5 * MINUTE);
    end({});
    end({ isAccepted: true, statusCode: 200 });
    clock.passMs(MINUTE);
    expect(calls.slice(2)).toEqual(['publish resumed', 'release']);
  });

  it('is an outage that lasts from its first failure, not from an earlier one that an acceptance ended', () => {
    const { clock, calls, end } = watched();
    end({});
    clock.passMs(4 * MINUTE);
    end({ isAccepted: true, statusCode: 200 });
    clock.passMs(2 * MINUTE);
    end({});
    clock.passMs(4 * MINUTE);
    end({});
    expect(calls).toEqual([]);
    clock.passMs(MINUTE);
    end({});
    expect(calls).toEqual(['hold (held)', 'publish suspended (held)']);
  });
});
