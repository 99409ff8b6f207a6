import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient } from '../../apps/cli/src/stack/api-client.js';
import { ensureFleet } from '../../apps/cli/src/stack/ensure-fleet.js';
import { stackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { createDeliveryTally } from './delivery-tally.js';
import { ensureSubscriptions, type KnownSubscription } from './ensure-subscriptions.js';
import { memorize, recall } from './subscriber-memory.js';
import { startSubscriberServer } from './subscriber-server.js';

interface SubscriberRun {
  readonly dataDir: string;
  readonly fleet: string;
  readonly now: () => number;
  readonly stopped: AbortSignal;
  readonly say: (line: string) => void;
}

const eventTypes = ['position', 'position_sleep', 'ignition_on', 'ignition_off'];
const summaryIntervalMs = 5_000;

/** Subscribes to the fleet's events, receives and verifies them, and says every 5 s how that goes, until stopped. */
export async function runSubscriber({ dataDir, fleet, now, stopped, say }: SubscriberRun): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const apiUrl = stack.require('WAYPOST_API_URL');
  const apiKey = await ensureFleet({ dataDir, databaseUrl: stack.require('DATABASE_URL'), fleetId: fleet, now });
  const memory = await recall(dataDir);
  const secrets = new Map<string, string>();
  const remember = (known: readonly KnownSubscription[]): void => {
    for (const { eventType, secret } of known) secrets.set(eventType, secret);
  };
  remember(memory.subscriptions);
  const tally = createDeliveryTally();
  const secretOf = (eventType: string): string | undefined => secrets.get(eventType);
  const server = await startSubscriberServer({ port: memory.port, eventTypes, secretOf, tally, now });
  try {
    // Before the subscriptions: a run that ends halfway leaves them at a port that the next one takes again.
    await memorize(dataDir, { ...memory, port: server.port });
    const api = createApiClient({ apiUrl, apiKey });
    const ensured = await ensureSubscriptions({ api, eventTypes, port: server.port, known: memory.subscriptions });
    remember(ensured);
    await memorize(dataDir, { port: server.port, subscriptions: ensured });
    say(`subscriber: listening on http://127.0.0.1:${String(server.port)}, verifying every signature`);
    while (!stopped.aborted) {
      await sleep(summaryIntervalMs, undefined, { signal: stopped }).catch(() => undefined);
      say(tally.summary());
    }
  } finally {
    await server.close();
  }
}
