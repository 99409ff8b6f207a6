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
}

export interface FleetModel {
  /** Moves the fleet's clock; returns what arrived meanwhile, in the order of arrival. */
  advanceTo(timeMs: number): TrafficRow[];
}

const stepMs = 1_000;

/** A fleet in an invented city. The options alone decide every ping; the caller owns the clock. */
export function createFleetModel({ seed, vehicles, startAt }: FleetModelOptions): FleetModel {
  const random = createRandom(seed);
  const network = buildRoadNetwork(random);
  const fleet = Array.from({ length: vehicles }, (_, index) => {
    // A stream of its own: one vehicle more does not change the others.
    const own = createRandom(seed * 1_000_003 + index);
    return { driver: createDriver(network, own, startAt), device: createDevice(network, own, index + 1, startAt) };
  });
  let clockMs = startAt;

  return {
    advanceTo(timeMs) {
      const arrived: TrafficRow[] = [];
      for (; clockMs < timeMs; clockMs += stepMs) {
        for (const { driver, device } of fleet) arrived.push(...device.observe(clockMs, driver.step(clockMs)));
      }
      return arrived;
    },
  };
}
