import { join } from 'node:path';
import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { createApiClient } from '../../../apps/cli/src/stack/api-client.js';
import { type SampledFleet, writeDeliveries } from '../../../bench/api/load/sample-deliveries.js';
import { createApplications, type RunningApp } from '../../../bench/shared/stack/applications.js';
import { type BenchStack, openBenchStack } from '../../../bench/shared/stack/bench-stack.js';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';
import type { ContractKey } from './fuzz.js';

export interface ContractStage {
  readonly apiUrl: string;
  readonly keys: readonly ContractKey[];
  /** Lines of the application's log that no request may cause. */
  complaints(): Promise<string[]>;
  stop(): Promise<void>;
}

interface StageOptions {
  readonly folder: string;
  /** The build whose public-api is tested. */
  readonly dist: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly reporter: StackReporter;
}

const FLEETS = ['fuzzed-one', 'fuzzed-two'];
const DELIVERIES_OF_A_FLEET = 400;
const DAY_MS = 86_400_000;
const UNLIMITED = '1000000';

/** public-api as users run it, on a stack of its own with data in it, and with the network closed. */
export async function openContractStage({ folder, dist, env, reporter }: StageOptions): Promise<ContractStage> {
  const { signal } = new AbortController();
  const stack = await openBenchStack({ folder: join(folder, 'stack'), env, reporter, signal, keep: false });
  try {
    const port = await choosePort({ taken: new Set() });
    const apiUrl = `http://127.0.0.1:${String(port)}`;
    const api = await startApi({ stack, dist, env, signal, port });
    const keys = await reporter.during('Making fleets, subscriptions and deliveries', () => fill(stack, apiUrl));
    return {
      apiUrl,
      keys,
      complaints: async () => [...(await complaintsIn(api)), ...endOf(api)],
      async stop() {
        await api.stop();
        await stack.stop();
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

interface ApiOptions {
  readonly stack: BenchStack;
  readonly dist: string;
  readonly env: StageOptions['env'];
  readonly signal: AbortSignal;
  readonly port: number;
}

function startApi({ stack, dist, env, signal, port }: ApiOptions): Promise<RunningApp> {
  const environment = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
  const applications = createApplications({ stack, dist, environment, signal });
  return applications.start('public-api', {
    nodeFlags: ['--import', projectFile('test/contract/closed-network.mjs')],
    env: {
      WAYPOST_PORT: String(port),
      // As in production: https and public addresses only. Answers of 429 have tests of their own.
      WAYPOST_EGRESS_ALLOW: '',
      WAYPOST_ALLOW_HTTP: 'false',
      WAYPOST_RATE_LIMIT_PER_SECOND: UNLIMITED,
      WAYPOST_RATE_LIMIT_BURST: UNLIMITED,
    },
  });
}

async function fill(stack: BenchStack, apiUrl: string): Promise<ContractStage['keys']> {
  const store = await openManagementStore(stack.databaseUrl);
  const keys: ContractKey[] = [];
  const fleets: SampledFleet[] = [];
  try {
    for (const fleetId of FLEETS) {
      await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: Date.now() });
      const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: Date.now() });
      if (made.type !== 'created') throw new Error(`Fleet ${fleetId} could not be made.`);
      const { subscriptions, replay } = await subscribe(apiUrl, made.key);
      keys.push({ fleetId, id: made.id, key: made.key, replay });
      fleets.push({ fleetId, subscriptions, devices: 5 });
    }
  } finally {
    await store.close();
  }
  const toMs = Date.now() - 60_000;
  const times = { fromMs: toMs - 2 * DAY_MS, toMs };
  await writeDeliveries({ databaseUrl: stack.databaseUrl, fleets, count: DELIVERIES_OF_A_FLEET, ...times });
  return keys;
}

const PATH = '/public/v1/webhook-subscriptions';

interface Subscribed extends Pick<ContractKey, 'replay'> {
  readonly subscriptions: SampledFleet['subscriptions'];
}

async function subscribe(apiUrl: string, apiKey: string): Promise<Subscribed> {
  const client = createApiClient({ apiUrl, apiKey });
  const eventTypes = ['position', 'position_sleep', 'ignition_on'];
  const made = (await client.post(PATH, { url: 'https://receiver.example/hook', eventTypes })) as {
    data: SampledFleet['subscriptions'];
  };
  const [first] = made.data;
  if (first === undefined) throw new Error('Subscribing has made no subscription.');
  const window = { startDate: new Date(Date.now() - DAY_MS).toISOString(), endDate: new Date().toISOString() };
  const { replayId } = (await client.post(`${PATH}/${first.id}/replays`, window)) as { replayId: string };
  await client.post(`${PATH}/${first.id}/test`);
  return { subscriptions: made.data, replay: { subscriptionId: first.id, replayId } };
}

async function complaintsIn(api: RunningApp): Promise<string[]> {
  const lines = (await api.log()).split('\n');
  return lines.filter((line) =>
    /"event":"(network_closed|request_failed|requests_unavailable|uncaught_error)"/.test(line),
  );
}

function endOf({ failed }: RunningApp): string[] {
  return failed.aborted ? [String(failed.reason)] : [];
}
