import { EVENT_TYPES } from '@waypost/domain';
import { waitOrAbort } from '@waypost/streams/admin';
import { createApiClient } from '../../apps/cli/src/stack/api-client.js';
import { ensureFleet } from '../../apps/cli/src/stack/api-keys.js';
import { stackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { createDeliveryTally } from './delivery-tally.js';
import { ensureGeofences } from './demo-fleet.js';
import { ensureSubscriptions, type KnownSubscription } from './ensure-subscriptions.js';
import { followLogs } from './follow-logs.js';
import { createStageLatency } from './stage-latency.js';
import { startSubscriberServer } from './subscriber-server.js';
import { loadState, saveState } from './subscriber-state.js';

export { stopSignal } from '@waypost/platform/without-nest';

interface SubscriberRun {
  readonly dataDir: string;
  readonly fleet: string;
  /** The address at which webhook-delivery reaches this host. */
  readonly host: string;
  /** The address at which a browser reaches the console; default: that of the API. */
  readonly consoleUrl?: string;
  readonly now: () => number;
  readonly stopped: AbortSignal;
  readonly print: (line: string) => void;
}

const LINE_INTERVAL_MS = 1_000;

/** Subscribes to all of the fleet's events, verifies each webhook, and prints one line per second until stopped. */
export async function runSubscriber(run: SubscriberRun): Promise<void> {
  const { dataDir, fleet, host, now, stopped, print } = run;
  const stack = await stackEnvironment(dataDir);
  const apiUrl = stack.require('WAYPOST_API_URL');
  const apiKey = await ensureFleet({ dataDir, databaseUrl: stack.require('DATABASE_URL'), fleetId: fleet, now });
  const saved = await loadState(dataDir);
  const secrets = new Map<string, string>();
  const remember = (known: readonly KnownSubscription[]): void => {
    for (const { eventType, secret } of known) secrets.set(eventType, secret);
  };
  remember(saved.subscriptions);
  const tally = createDeliveryTally();
  const latency = createStageLatency();
  const server = await startSubscriberServer({
    host,
    port: saved.port,
    eventTypes: EVENT_TYPES,
    secretOf: (eventType) => secrets.get(eventType),
    onBad: () => tally.bad(),
    onVerified: (event) => {
      const { eventType, eventTime, eventData } = event;
      if (!tally.verified(event)) return;
      latency.received({ deviceId: eventData.deviceId, eventType, eventTimeMs: Date.parse(eventTime) }, now());
    },
  });
  try {
    // Saved before the subscriptions, so that after a partial run the next one takes the same port again.
    await saveState(dataDir, { ...saved, port: server.port });
    const api = createApiClient({ apiUrl, apiKey });
    await ensureGeofences(api);
    const known = saved.subscriptions;
    const subscriptions = await ensureSubscriptions({
      api,
      eventTypes: EVENT_TYPES,
      host,
      port: server.port,
      known,
    });
    remember(subscriptions);
    await saveState(dataDir, { port: server.port, subscriptions });
    print(`console: ${consoleLink(run.consoleUrl ?? apiUrl, apiKey)} signs you in as the fleet ${fleet}`);
    print(`subscriber: listening on http://${host}:${String(server.port)}, verifying every signature`);
    const following = followLogs({
      stack,
      fleetId: fleet,
      latency,
      onPing: () => tally.pingSeen(),
      fromMs: now(),
      stopped,
    });
    await Promise.race([following, printLines()]);
  } finally {
    await server.close();
  }

  async function printLines(): Promise<void> {
    while (!stopped.aborted) {
      await waitOrAbort(LINE_INTERVAL_MS, stopped);
      print(tally.line(latency.summary()));
    }
  }
}

/** The part after "#" is sent to no server, so the key stays in the browser. */
export function consoleLink(consoleUrl: string, apiKey: string): string {
  return new URL(`/#key=${apiKey}`, consoleUrl).href;
}
