import type { TelemetryPing } from '@waypost/domain';
import { waitOrAbort } from '@waypost/streams/admin';
import { pingOf, type TrackRow } from '../../apps/cli/src/pings/ping-line.js';
import { openPingPublisher } from '../../apps/cli/src/pings/ping-publisher.js';
import { ensureFleet } from '../../apps/cli/src/stack/api-keys.js';
import { stackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../../apps/cli/src/stack/stack-connections.js';
import { createFleetModel, type TrafficRow } from './fleet-model.js';
import { createSimulatedClock } from './simulated-clock.js';

export { stopSignal } from '@waypost/platform/without-nest';

export interface SimulatorOptions {
  readonly dataDir: string;
  readonly fleet: string;
  readonly vehicles: number;
  readonly seed: number;
  /** Simulated seconds per second, until the fleet has caught up with the present. */
  readonly speedUp: number;
}

interface SimulatorRun {
  readonly options: SimulatorOptions;
  readonly now: () => number;
  readonly stopped: AbortSignal;
  readonly print: (line: string) => void;
}

const TICK_MS = 100;
/** The position window of R-7: afterwards every second sees some vehicle's next position. */
const RAMP_UP_MS = 180_000;

/** Lets a fleet drive and publishes its pings as they occur, until stopped. */
export async function simulate({ options, now, stopped, print }: SimulatorRun): Promise<void> {
  const { dataDir, fleet, vehicles, seed, speedUp } = options;
  const stack = await stackEnvironment(dataDir);
  await ensureFleet({ dataDir, databaseUrl: stack.require('DATABASE_URL'), fleetId: fleet, now });
  const publisher = await openPingPublisher(kafkaSettings(stack), registrySettings(stack));
  const startedAt = now();
  const clock = createSimulatedClock(startedAt, speedUp);
  const model = createFleetModel({ seed, vehicles, startAt: clock(startedAt), rampUpMs: RAMP_UP_MS });
  print(`simulator: ${String(vehicles)} vehicles of fleet ${fleet} come online within three minutes`);
  let underWay: TrafficRow[] = [];
  try {
    while (!stopped.aborted) {
      const timeMs = clock(now());
      underWay.push(...model.advanceTo(timeMs));
      // The model computes a whole second at once; each ping is published when it arrives.
      const arrived = underWay.filter((row) => Date.parse(row.receivedTime) <= timeMs);
      underWay = underWay.filter((row) => Date.parse(row.receivedTime) > timeMs);
      await publisher.publish(arrived.map((row) => toPing(row, fleet)));
      await waitOrAbort(TICK_MS, stopped);
    }
  } finally {
    await publisher.close();
  }
}

function toPing(row: TrafficRow, fleetId: string): TelemetryPing {
  const result = pingOf({ ...row } satisfies TrackRow, { fleetId, shiftMs: 0, keepReceivedTime: true });
  if (result.type === 'ping') return result.ping;
  throw new Error(`The fleet model made an invalid ping: ${result.detail}`);
}
