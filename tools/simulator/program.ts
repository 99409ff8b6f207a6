import { setTimeout as sleep } from 'node:timers/promises';
import type { TelemetryPing } from '@waypost/contracts';
import type { TrackRow } from '../../apps/cli/src/pings/ping-line.js';
import { pingOf } from '../../apps/cli/src/pings/ping-line.js';
import { openPingPublisher } from '../../apps/cli/src/pings/ping-publisher.js';
import { ensureFleet } from '../../apps/cli/src/stack/ensure-fleet.js';
import { kafkaSettings } from '../../apps/cli/src/stack/kafka-settings.js';
import { registrySettings } from '../../apps/cli/src/stack/registry-settings.js';
import { stackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { createFleetModel, type TrafficRow } from './fleet-model.js';

export interface SimulatorOptions {
  readonly dataDir: string;
  readonly fleet: string;
  readonly vehicles: number;
  readonly seed: number;
  /** How many seconds of the fleet's life pass in one second. */
  readonly speedUp: number;
}

interface SimulatorRun {
  readonly options: SimulatorOptions;
  readonly now: () => number;
  readonly stopped: AbortSignal;
  readonly say: (line: string) => void;
}

const tickMs = 100;

/** Lets a fleet drive and publishes its pings as they arise, until stopped. */
export async function simulate({ options, now, stopped, say }: SimulatorRun): Promise<void> {
  const { dataDir, fleet, vehicles, seed, speedUp } = options;
  const stack = await stackEnvironment(dataDir);
  await ensureFleet({ dataDir, databaseUrl: stack.require('DATABASE_URL'), fleetId: fleet, now });
  const publisher = await openPingPublisher(kafkaSettings(stack), registrySettings(stack));
  const startedAt = now();
  const model = createFleetModel({ seed, vehicles, startAt: startedAt });
  say(`simulator: ${String(vehicles)} vehicles of fleet ${fleet} are on the road`);
  let underWay: TrafficRow[] = [];
  try {
    while (!stopped.aborted) {
      const timeMs = startedAt + (now() - startedAt) * speedUp;
      underWay.push(...model.advanceTo(timeMs));
      // The model gives a whole second at once; each ping goes out when it arrives.
      const arrived = underWay.filter((row) => Date.parse(row.receivedTime) <= timeMs);
      underWay = underWay.filter((row) => Date.parse(row.receivedTime) > timeMs);
      await publisher.publish(arrived.map((row) => toPing(row, fleet)));
      await sleep(tickMs, undefined, { signal: stopped }).catch(() => undefined);
    }
  } finally {
    await publisher.close();
  }
}

function toPing(row: TrafficRow, fleetId: string): TelemetryPing {
  const result = pingOf({ ...row } satisfies TrackRow, { fleetId, shiftMs: 0, keepReceivedTime: true });
  if (result.type === 'ping') return result.ping;
  throw new Error(`The fleet model made a ping that is none: ${result.detail}`);
}
