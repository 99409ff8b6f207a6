import { readJsonFile, writeJsonFile } from '../../../tools/dev-stack/data-dir/data-dir.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import { openFleetMaker } from '../../shared/stack/fleet-maker.js';
import type { CallName } from '../bench-flags.js';
import type { PlannedRequest } from '../load/messages.js';
import { sampleDelivery, type SampledFleet, writeDeliveries } from '../load/sample-deliveries.js';

/** Who calls: fleets with a key each, and with deliveries that they can ask for. */
export interface Callers {
  readonly fleets: readonly (SampledFleet & { readonly key: string })[];
  /** Epoch milliseconds: of the first attempts. */
  readonly fromMs: number;
  readonly toMs: number;
}

export const FLEETS = 4;
const EVENT_TYPES = ['position', 'position_sleep', 'ignition_on'];
const DEVICES = 100;
const DAYS = 3;
const DAY_MS = 86_400_000;
const FILE = 'callers.json';

interface SetUpOptions {
  readonly stack: BenchStack;
  readonly apiUrl: string;
  readonly deliveries: number;
  readonly reporter: StackReporter;
  readonly now: () => number;
}

/** The callers of this stack; made through the public API, and their deliveries written, unless an earlier run has. */
export async function callersOf({ stack, apiUrl, deliveries, reporter, now }: SetUpOptions): Promise<Callers> {
  const saved = (await readJsonFile(stack.file(FILE))) as Callers | null;
  if (saved !== null) return saved;
  const fleets = await reporter.during('Creating fleets and subscriptions', () => makeFleets(stack, apiUrl));
  const toMs = now() - 60_000;
  const fromMs = toMs - DAYS * DAY_MS;
  const count = Math.ceil(deliveries / FLEETS);
  await reporter.during(`Writing ${String(count * FLEETS)} deliveries`, () =>
    writeDeliveries({ databaseUrl: stack.databaseUrl, fleets, count, fromMs, toMs }),
  );
  const callers = { fleets, fromMs, toMs };
  await writeJsonFile(stack.file(FILE), callers);
  return callers;
}

async function makeFleets(stack: BenchStack, apiUrl: string): Promise<Callers['fleets']> {
  const maker = await openFleetMaker(stack, apiUrl);
  try {
    const numbers = Array.from({ length: FLEETS }, (_, number) => number);
    return await Promise.all(
      numbers.map(async (number) => {
        const fleetId = `caller-${String(number)}`;
        const { apiKey, subscribe } = await maker.make(fleetId);
        const subscriptions = await subscribe({ url: 'http://127.0.0.1:9/hook', eventTypes: EVENT_TYPES });
        return { fleetId, key: apiKey, subscriptions, devices: DEVICES };
      }),
    );
  } finally {
    await maker.close();
  }
}

/** Different ones of each fleet: the same page again and again would be in every cache. */
const OF_A_FLEET = 50;
const PAGE = 100;
const HISTORY = { v1: '/public/v1/webhook-events', v2: '/public/v2/events' };

/** The requests of one call, of every fleet in turn. */
export function plannedRequests(call: CallName, callers: Callers, deliveries: number): PlannedRequest[] {
  const { fleets, fromMs, toMs } = callers;
  const numbers = Array.from({ length: OF_A_FLEET }, (_, number) => number);
  /** Starts that leave a full page behind each of them. */
  const startDate = (number: number): string =>
    new Date(Math.floor(fromMs + ((toMs - fromMs) * number) / (OF_A_FLEET + 1))).toISOString();
  const endDate = new Date(toMs).toISOString();
  const pathOf: Record<CallName, (fleet: Callers['fleets'][number], number: number) => string> = {
    'v1-page': (_, number) => `${HISTORY.v1}?startDate=${startDate(number)}&endDate=${endDate}&limit=${String(PAGE)}`,
    'v2-page': (_, number) => `${HISTORY.v2}?startDate=${startDate(number)}&limit=${String(PAGE)}`,
    'v2-event': (fleet, number) => {
      const count = Math.ceil(deliveries / fleets.length);
      const index = Math.floor((count * number) / OF_A_FLEET);
      const [first] = sampleDelivery(fleet, index, Math.floor(fromMs + ((toMs - fromMs) * index) / count));
      return `${HISTORY.v2}?eventId=${first?.eventId ?? ''}`;
    },
    subscription: (fleet, number) =>
      `/public/v1/webhook-subscriptions/${fleet.subscriptions[number % fleet.subscriptions.length]?.id ?? ''}`,
  };
  return numbers.flatMap((number) =>
    fleets.map((fleet) => ({ path: pathOf[call](fleet, number), headers: { authorization: `Bearer ${fleet.key}` } })),
  );
}
