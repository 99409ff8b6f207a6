import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { createApiClient } from '../../../apps/cli/src/stack/api-client.js';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { isPortFree, readJsonFile, type StackReporter, writeJsonFile } from '../../../tools/dev-stack/index.js';
import type { Applications } from '../../shared/stack/applications.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import type { Target } from '../load/messages.js';

export const ENDPOINTS = 100;
export const FAN_OUT = 10;
/** Endpoints beside these, for measurements that need bad ones. */
export const NEIGHBOURS = 200;
/** Subscriptions of the one fleet that floods; they share the neighbours' endpoints. */
export const FLOOD_SUBSCRIPTIONS = 40;

/** The receivers of the benchmark: each endpoint belongs to a fleet of its own, and fans of ten to ten further fleets. */
export interface Subscribers {
  /** Of the sink, by endpoint. */
  readonly ports: readonly number[];
  /** By endpoint: an event of it goes to that endpoint alone. */
  readonly single: readonly Omit<Target, 'weight'>[];
  /** An event of the n-th goes to the endpoints 10n to 10n + 9. */
  readonly fans: readonly Omit<Target, 'weight'>[];
  /** The n-th is for the endpoint `ENDPOINTS` + n alone. */
  readonly neighbours: readonly Omit<Target, 'weight'>[];
  /** An event of it goes to the first endpoints of the neighbours. */
  readonly flood: Omit<Target, 'weight'>;
}

const FILE = 'subscribers.json';
const EVENT_TYPE = 'position';
const AT_ONCE = 8;
const PATH = '/public/v1/webhook-subscriptions';

interface SetUpOptions {
  readonly stack: BenchStack;
  readonly applications: Applications;
  readonly reporter: StackReporter;
}

/** The subscribers of this stack; made through the public API unless an earlier run has made them. */
export async function subscribersOf(options: SetUpOptions): Promise<Subscribers> {
  const { stack, reporter } = options;
  const saved = (await readJsonFile(stack.file(FILE))) as Subscribers | null;
  if (saved !== null) {
    await assertFree(saved.ports);
    return saved;
  }
  const made = await reporter.during('Creating fleets and subscriptions', () => makeSubscribers(options));
  await writeJsonFile(stack.file(FILE), made);
  return made;
}

async function assertFree(ports: readonly number[]): Promise<void> {
  for (const port of new Set(ports)) {
    if (!(await isPortFree(port))) throw new Error(`Port ${String(port)} of the sink is taken: start without --keep.`);
  }
}

interface Fleet {
  readonly fleetId: string;
  readonly endpoints: readonly number[];
}

async function makeSubscribers({ stack, applications }: SetUpOptions): Promise<Subscribers> {
  const ports = await choosePorts();
  const single = numbers(ENDPOINTS).map((number) => fleet(`single-${String(number)}`, [number]));
  const fans = numbers(ENDPOINTS / FAN_OUT).map((number) =>
    fleet(
      `fan-${String(number)}`,
      numbers(FAN_OUT).map((index) => number * FAN_OUT + index),
    ),
  );
  const neighbours = numbers(NEIGHBOURS).map((number) => fleet(`neighbour-${String(number)}`, [ENDPOINTS + number]));
  const flood = fleet(
    'flood',
    numbers(FLOOD_SUBSCRIPTIONS).map((index) => ENDPOINTS + index),
  );
  const port = await choosePort({ taken: new Set(ports) });
  const api = await applications.start('public-api', { env: { WAYPOST_PORT: String(port) } });
  const store = await openManagementStore(stack.databaseUrl);
  try {
    const waiting = [...single, ...fans, ...neighbours, flood];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await store.fleets.create({ fleetId: next.fleetId, payloadFormat: 'v1', nowMs: Date.now() });
        const key = await store.apiKeys.create({ fleetId: next.fleetId, scopes: API_KEY_SCOPES, nowMs: Date.now() });
        if (key.type !== 'created') throw new Error(`Fleet ${next.fleetId} could not be made.`);
        const client = createApiClient({ apiUrl: `http://127.0.0.1:${String(port)}`, apiKey: key.key });
        for (const endpoint of next.endpoints)
          await client.post(PATH, { url: urlOf(ports[endpoint] ?? 0, endpoint), eventTypes: [EVENT_TYPE] });
      }
    };
    await Promise.all(numbers(AT_ONCE).map(worker));
  } finally {
    await store.close();
    await api.stop();
  }
  const target = ({ fleetId }: Fleet) => ({ fleetId, eventType: EVENT_TYPE });
  return {
    ...{ ports, single: single.map(target), fans: fans.map(target) },
    ...{ neighbours: neighbours.map(target), flood: target(flood) },
  };
}

function fleet(fleetId: string, endpoints: readonly number[]): Fleet {
  return { fleetId, endpoints };
}
function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
function urlOf(port: number, endpoint: number): string {
  return `http://127.0.0.1:${String(port)}/hook/${String(endpoint)}`;
}

/** One for each endpoint. */
async function choosePorts(): Promise<number[]> {
  const taken = new Set<number>();
  while (taken.size < ENDPOINTS + NEIGHBOURS) taken.add(await choosePort({ taken }));
  return [...taken];
}
