import { buildRoadNetwork } from './city/road-network.js';
import { createRandom } from './random.js';
import { createDevice, type TrafficRow } from './vehicle/device.js';
import { createDriver } from './vehicle/drive.js';

export type { TrafficRow } from './vehicle/device.js';

export interface FleetModelOptions {
  readonly seed: number;
  readonly vehicles: number;
  /** Epoch ms of the first second. */
  readonly startAt: number;
  /** Two thirds of the devices switch on over this time, so that their three-minute windows do not coincide. */
  readonly rampUpMs?: number;
}

export interface FleetModel {
  /** Advances the fleet's clock; returns the pings that have arrived since then, in order of arrival. */
  advanceTo(timeMs: number): TrafficRow[];
}

const stepMs = 1_000;

/** A fleet in an invented city. The options alone decide every ping; the caller owns the clock. */
export function createFleetModel({ seed, vehicles, startAt, rampUpMs = 0 }: FleetModelOptions): FleetModel {
  const random = createRandom(seed);
  const network = buildRoadNetwork(random);
  const fleet = Array.from({ length: vehicles }, (_, index) => {
    // A separate random stream: another vehicle does not change the existing ones.
    const own = createRandom(seed * 1_000_003 + index);
    const driver = createDriver(network, own, startAt);
    const device = createDevice(network, own, index + 1, startAt);
    return { driver, device, onlineAt: startAt + (index % 3 === 0 ? 0 : (rampUpMs * index) / vehicles) };
  });
  let clockMs = startAt;

  return {
    advanceTo(timeMs) {
      const arrived: TrafficRow[] = [];
      for (; clockMs < timeMs; clockMs += stepMs) {
        for (const { driver, device, onlineAt } of fleet) {
          const state = driver.step(clockMs);
          if (clockMs >= onlineAt) arrived.push(...device.observe(clockMs, state));
        }
      }
      return arrived;
    },
  };
}
