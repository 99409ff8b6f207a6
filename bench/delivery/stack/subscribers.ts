import { setTimeout as sleep } from 'node:timers/promises';
import { createApiClient } from '../../../apps/cli/src/stack/api-client.js';
import { readJsonFile, writeJsonFile } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { isPortFree } from '../../../tools/dev-stack/free-port.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';
import type { Applications } from '../../shared/stack/applications.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import { openFleetMaker, SUBSCRIPTIONS_PATH } from '../../shared/stack/fleet-maker.js';
import type { Target } from '../load/messages.js';
import type { Receivers } from './receivers.js';

export const ENDPOINTS = 100;
const FAN_OUT = 10;
/** Endpoints beside these, for measurements that need bad ones. */
export const NEIGHBORS = 200;
/** Subscriptions of the one fleet that floods; they share the neighbors' endpoints. */
export const FLOOD_SUBSCRIPTIONS = 40;

export const HELD_ENDPOINT = ENDPOINTS + NEIGHBORS;

type Fleet = Omit<Target, 'weight'>;

/** How the URLs of neighbors lead to their endpoints, by the event type that selects the URL. */
export const NEIGHBOR_URLS = { http: 'position', tls: 'ignition_on', dns: 'ignition_off' } as const;
export type NeighborUrl = keyof typeof NEIGHBOR_URLS;

/** The receivers of the benchmark: each endpoint belongs to a fleet of its own, and fans of ten to ten further fleets. */
export interface Subscribers {
  /** Of the sink, by endpoint. */
  readonly ports: readonly number[];
  /** By endpoint: an event of it goes to that endpoint alone. */
  readonly single: readonly Fleet[];
  /** An event of the n-th goes to the endpoints 10n to 10n + 9. */
  readonly fans: readonly Fleet[];
  /** The n-th is for the endpoint `ENDPOINTS` + n alone; its URL is plain HTTP unless another event type is set. */
  readonly neighbors: readonly Fleet[];
  /** An event of it goes to the first endpoints of the neighbors. */
  readonly flood: Fleet;
  /** As many subscriptions with `onOutage: hold`, to endpoints of their own: the last ones, from `HELD_ENDPOINT` on. */
  readonly held: Fleet & { readonly apiKey: string; readonly subscriptionIds: readonly string[] };
}

const FILE = 'subscribers.json';
const AT_ONCE = 8;
/** a second after the answer; the outbox is published at once. */
const FOLLOWED_MS = 2_000;

interface SetUpOptions {
  readonly stack: BenchStack;
  readonly applications: Applications;
  readonly reporter: StackReporter;
  readonly receivers: Receivers;
  /** Of the sink, which already listens: a port that is only chosen may be taken before the subscriptions are made. */
  readonly ports: readonly number[];
}

/** The ports of the sink: those of the subscriptions that an earlier run has made, or free ones. */
export async function sinkPorts(stack: BenchStack): Promise<readonly number[]> {
  const saved = (await readJsonFile(stack.file(FILE))) as Subscribers | null;
  if (saved === null) return choosePorts();
  await assertFree(saved.ports);
  return saved.ports;
}

/** The subscribers of this stack; made through the public API unless an earlier run has made them. */
export async function subscribersOf(options: SetUpOptions): Promise<Subscribers> {
  const { stack, reporter } = options;
  const saved = (await readJsonFile(stack.file(FILE))) as Subscribers | null;
  if (saved !== null) return saved;
  const made = await reporter.during('Creating fleets and subscriptions', () => makeSubscribers(options));
  await writeJsonFile(stack.file(FILE), made);
  return made;
}

async function assertFree(ports: readonly number[]): Promise<void> {
  for (const port of new Set(ports)) {
    if (!(await isPortFree(port))) throw new Error(`Port ${String(port)} of the sink is taken: start without --keep.`);
  }
}

/** Subscriptions to make. */
interface FleetPlan {
  readonly fleetId: string;
  readonly endpoints: readonly number[];
  readonly urls?: readonly NeighborUrl[];
  readonly onOutage?: 'fail' | 'hold';
}

async function makeSubscribers({ stack, applications, receivers, ports }: SetUpOptions): Promise<Subscribers> {
  const first = (count: number, from = 0): number[] => numbers(count).map((index) => from + index);
  const single = numbers(ENDPOINTS).map((number) => ({ fleetId: `single-${String(number)}`, endpoints: [number] }));
  const fans = numbers(ENDPOINTS / FAN_OUT).map((number) => ({
    fleetId: `fan-${String(number)}`,
    endpoints: first(FAN_OUT, number * FAN_OUT),
  }));
  const neighbors = numbers(NEIGHBORS).map((number) => ({
    fleetId: `neighbor-${String(number)}`,
    endpoints: [ENDPOINTS + number],
    urls: ['http', 'tls', 'dns'] as const,
  }));
  const flood: FleetPlan = { fleetId: 'flood', endpoints: first(FLOOD_SUBSCRIPTIONS, ENDPOINTS) };
  const held: FleetPlan = {
    fleetId: 'held',
    endpoints: first(FLOOD_SUBSCRIPTIONS, HELD_ENDPOINT),
    onOutage: 'hold',
  };
  const api = await startApi(applications, receivers);
  const maker = await openFleetMaker(stack, api.url);
  const makeFleet = async ({ fleetId, endpoints, urls = ['http'], onOutage = 'fail' }: FleetPlan) => {
    const { apiKey, subscribe } = await maker.make(fleetId);
    const ids: string[] = [];
    for (const endpoint of endpoints)
      for (const url of urls) {
        const body = { url: urlOf(url, ports, endpoint), eventTypes: [NEIGHBOR_URLS[url]], onOutage };
        ids.push(...(await subscribe(body)).map(({ id }) => id));
      }
    return { apiKey, ids };
  };
  try {
    const waiting: FleetPlan[] = [...single, ...fans, ...neighbors, flood];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await makeFleet(next);
    };
    await Promise.all(numbers(AT_ONCE).map(worker));
    const { apiKey, ids: subscriptionIds } = await makeFleet(held);
    const target = ({ fleetId }: FleetPlan): Fleet => ({ fleetId, eventType: NEIGHBOR_URLS.http });
    return {
      ports,
      single: single.map(target),
      fans: fans.map(target),
      neighbors: neighbors.map(target),
      flood: target(flood),
      held: { ...target(held), apiKey, subscriptionIds },
    };
  } finally {
    await maker.close();
    await api.stop();
  }
}

async function startApi(applications: Applications, { env }: Receivers) {
  const port = String(await choosePort());
  const api = await applications.start('public-api', { env: { ...env, WAYPOST_PORT: port } });
  return { url: `http://127.0.0.1:${port}`, stop: () => api.stop() };
}

/** Pauses the held fleet; resolves when webhook-delivery has followed. */
export async function pauseHeld(
  { held }: Subscribers,
  applications: Applications,
  receivers: Receivers,
): Promise<void> {
  const api = await startApi(applications, receivers);
  try {
    const client = createApiClient({ apiUrl: api.url, apiKey: held.apiKey });
    for (const id of held.subscriptionIds) await client.patch(`${SUBSCRIPTIONS_PATH}/${id}`, { status: 'paused' });
    await sleep(FOLLOWED_MS);
  } finally {
    await api.stop();
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function urlOf(kind: NeighborUrl, ports: readonly number[], endpoint: number): string {
  const path = `${String(ports[endpoint] ?? 0)}/hook/${String(endpoint)}`;
  if (kind === 'tls') return `https://127.0.0.1:${path}`;
  return kind === 'http' ? `http://127.0.0.1:${path}` : `http://neighbor-${String(endpoint)}.example:${path}`;
}

/** One for each endpoint. */
async function choosePorts(): Promise<number[]> {
  const taken = new Set<number>();
  while (taken.size < HELD_ENDPOINT + FLOOD_SUBSCRIPTIONS) taken.add(await choosePort({ taken }));
  return [...taken];
}
