import { Headroom } from '../../process/headroom.js';
import type { ReservationLimits } from '../../shares/reservations.js';
import { DeliveryScheduler, type SlotLimits } from '../scheduling/delivery-scheduler.js';
import type { BegunDelivery } from '../scheduling/lane.js';
import type { LaneSettings } from '../scheduling/lane-settings.js';
import { ManualClock } from './manual-clock.js';

type Limits = Partial<SlotLimits> & {
  readonly reservations?: Partial<ReservationLimits>;
  readonly beginningTakesMs?: number;
};

/** Deliveries stay in flight until the test ends them; the test also moves the clock. */
export function buildScheduler(
  { reservations, beginningTakesMs = 0, ...slots }: Limits,
  settings: Record<string, Partial<LaneSettings>> = {},
) {
  const clock = new ManualClock(1_000);
  const { monotonicMs } = clock;
  const headroom = new Headroom(monotonicMs);
  const scheduler = new DeliveryScheduler({
    slots: { perSubscription: 10, perFleet: 100, perFleetBesideOthers: 100, total: 100, ...slots },
    reservations: { total: 1_000, perOrigin: 1_000, ...reservations },
    settings: (id) => ({
      ...{ fleetId: `fleet of ${id}`, origin: id, ratePerSecond: null, heedsRetryAfter: true },
      ...settings[id],
    }),
    timers: clock,
    monotonicMs,
    headroom,
  });
  const begun: { subscriptionId: string; delivery: BegunDelivery }[] = [];
  const started: string[] = [];
  const enqueue = (subscriptionId: string, label = subscriptionId, { isVoid = false, isPaced = true } = {}): void => {
    scheduler.lane(subscriptionId).enqueue({
      isVoid,
      isPaced,
      mayBegin: () => true,
      begin: (delivery) => {
        clock.atMs += beginningTakesMs;
        started.push(label);
        begun.push({ subscriptionId, delivery });
      },
    });
  };
  const oldestOf = (subscriptionId: string): BegunDelivery | undefined =>
    begun.find((one) => one.subscriptionId === subscriptionId)?.delivery;
  const endOne = (subscriptionId: string): void => {
    const index = begun.findIndex((one) => one.subscriptionId === subscriptionId);
    begun.splice(index, 1)[0]?.delivery.end();
  };
  const passMs = (ms: number): void => {
    clock.passMs(ms);
  };
  return { scheduler, started, enqueue, oldestOf, endOne, passMs, now: monotonicMs };
}

export function times(count: number, run: (i: number) => void): void {
  for (let i = 0; i < count; i++) run(i);
}
