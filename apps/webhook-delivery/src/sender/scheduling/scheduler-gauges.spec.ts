import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { ManualClock } from '../testing/manual-clock.js';
import { DeliveryScheduler } from './delivery-scheduler.js';
import { createLaneSettings } from './lane-settings.js';
import { registerSchedulerGauges } from './scheduler-gauges.js';

it('the gauges of the scheduler say how much is in progress, beside its limit (R-22, R-26)', async () => {
  const clock = new ManualClock();
  const scheduler = new DeliveryScheduler({
    slots: { perSubscription: 8, perFleet: 64, perFleetBesideOthers: 32, total: 128 },
    reservations: { total: 512, perOrigin: 64 },
    settings: createLaneSettings({ get: () => undefined }),
    timers: clock,
    monotonicMs: clock.monotonicMs,
    headroom: { share: () => 0.75, retryStarted: () => undefined },
  });
  const registry = new Registry();
  registerSchedulerGauges(scheduler, registry);
  const lane = scheduler.lane('subscription-1');
  // Between two attempts, a delivery that has begun has a reservation and no slot.
  lane.resume();
  lane.enqueue({ isVoid: false, isPaced: true, mayBegin: () => true, begin: () => undefined });

  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('waypost_'));

  expect(lines).toEqual([
    'waypost_reservations 2',
    'waypost_reservations_limit 512',
    'waypost_attempt_slots_busy 1',
    'waypost_headroom_ratio 0.75',
  ]);
});
