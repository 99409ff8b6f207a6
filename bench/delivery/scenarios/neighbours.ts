import { topics } from '@waypost/contracts';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { latenciesMs } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { openEventWriter } from '../load/event-writer.js';
import { type Behaviour, HEALTHY, isAccepting } from '../sink/origin.js';
import { ENDPOINTS, FLOOD_SUBSCRIPTIONS, NEIGHBOUR_URLS, type NeighbourUrl } from '../stack/subscribers.js';
import { alike, eventsOfTargets, finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilAnswered200 } from './window.js';

/** A delivery is tried for some 54 s; one that failed meanwhile is no longer waited for. */
const RECOVERY_SECONDS = 60;
/** After a switch new connections are opened. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 5;
const FLOOD_EVENTS = 2_000;

/** What the neighbours of the 100 do in a window. */
export interface NeighbourKind {
  readonly title: string;
  readonly behaviour: Behaviour;
  /** Default: plain HTTP to an address. */
  readonly url?: NeighbourUrl;
  /** The name server leaves queries for their names without an answer. */
  readonly hasSilentDns?: boolean;
  /** One more fleet has 2,000 events for each of its 40 subscriptions at once, when the window begins. */
  readonly hasFlood?: boolean;
}

const NO_HARM: NeighbourKind = { title: 'healthy', behaviour: HEALTHY };

export interface NeighbourPlan {
  /** 'held': the 40 subscriptions of the held fleet, which are left as they are, instead of endpoints beside the 100. */
  readonly neighbours: number | 'held';
  /** Their part of all deliveries, together. */
  readonly share: number;
  readonly perSecond: number;
}

/** What the 100 got in a window, without its first second. */
export interface OthersWindow {
  readonly latencyMs: Percentiles;
  /** Deliveries received within the window. */
  readonly perSecond: number;
}

/** What 100 healthy endpoints notice of bad neighbours of one kind. */
export interface BesideRun {
  readonly kind: string;
  readonly neighbours: number;
  readonly share: number;
  readonly perSecond: number;
  /** Of the 100, with healthy neighbours, in the windows before and after. */
  readonly aloneMs: Percentiles;
  readonly besideMs: Percentiles;
  readonly p99Ratio: number;
  /** Largest to smallest p99 of the windows alone: a ratio within it says nothing. */
  readonly aloneSpread: number;
  /** Deliveries received within the window, beside to alone. */
  readonly rateRatio: number;
}

export function measureAlone(context: BenchContext, plan: NeighbourPlan): Promise<OthersWindow> {
  return measureBeside(context, plan, NO_HARM);
}

/** One window with neighbours of that kind; nothing is left of it at the end, except of held deliveries. */
export async function measureBeside(
  context: BenchContext,
  plan: NeighbourPlan,
  kind: NeighbourKind,
): Promise<OthersWindow> {
  const { harness, flags, receivers } = context;
  const { behaviour, hasFlood = false, hasSilentDns = false } = kind;
  const bad = plan.neighbours === 'held' ? [] : endpointsOf(plan.neighbours);
  const isBad = behaviour !== HEALTHY || hasSilentDns;
  await harness.forget();
  await harness.behave(bad, behaviour);
  receivers.nameServer.isSilent = hasSilentDns;
  const seconds = flags.seconds / 2 + SETTLE_SECONDS;
  await startRated(context, { perSecond: eventsPerSecond(plan), seconds, targets: targetsOf(context, plan, kind) });
  if (hasFlood) await writeFlood(context);
  const sent = await finishRated(context);
  const toOthers = eventsOfTargets(sent, ENDPOINTS);
  const all = (bad.length === 0 ? toOthers : sent.events) + (hasFlood ? FLOOD_EVENTS * FLOOD_SUBSCRIPTIONS : 0);
  const isAllAccepted = isAccepting(behaviour) && !hasSilentDns;
  await untilAnswered200(context, isAllAccepted ? all : toOthers, hasFlood ? RECOVERY_SECONDS : TAIL_SECONDS);
  const found = await singleDeliveries(context, sent);
  if (isBad) await recover(context, bad, all);

  const beginMs = (found[0]?.committedMs ?? NaN) + SETTLE_SECONDS * 1_000;
  const endMs = beginMs + (flags.seconds / 2) * 1_000;
  const others = found.filter(({ endpoint }) => endpoint < ENDPOINTS);
  const received = others.flatMap(({ receipts }) => receipts).filter(({ receivedMs }) => isWithin(receivedMs));
  return {
    latencyMs: percentilesOf(latenciesMs(others.filter(({ committedMs }) => isWithin(committedMs)))),
    perSecond: received.length / ((endMs - beginMs) / 1_000),
  };

  function isWithin(atMs: number): boolean {
    return atMs >= beginMs && atMs < endMs;
  }
}

/** An event of the held fleet makes as many deliveries as it has subscriptions. */
function eventsPerSecond({ neighbours, share, perSecond }: NeighbourPlan): number {
  return neighbours === 'held' ? perSecond * (1 - share + share / FLOOD_SUBSCRIPTIONS) : perSecond;
}

export function endpointsOf(neighbours: number): number[] {
  return Array.from({ length: neighbours }, (_, index) => ENDPOINTS + index);
}

function targetsOf(
  { subscribers }: BenchContext,
  { neighbours, share }: NeighbourPlan,
  { url = 'http' }: NeighbourKind,
) {
  const weight = (share / (1 - share)) * ENDPOINTS;
  const others = alike(subscribers.single);
  if (neighbours === 'held') return [...others, ...alike([subscribers.held], weight / FLOOD_SUBSCRIPTIONS)];
  const bad = subscribers.neighbours.slice(0, neighbours);
  const eventType = NEIGHBOUR_URLS[url];
  return [...others, ...alike(bad, weight / neighbours).map((target) => ({ ...target, eventType }))];
}

async function writeFlood(context: BenchContext): Promise<void> {
  const { stack, subscribers, now } = context;
  await pause(context, SETTLE_SECONDS);
  const writer = await openEventWriter({ brokers: stack.kafka.brokers, registryUrl: stack.registryUrl });
  try {
    const target = { ...subscribers.flood, weight: 1 };
    const events = Array.from({ length: FLOOD_EVENTS }, (_, number) => ({ number, target }));
    await writer.write(events, { topic: topics.fleetEvents.name, records: 'events', sentMs: now() });
  } finally {
    await writer.close();
  }
}

/** The next window begins with nothing left of this one. */
async function recover(context: BenchContext, bad: readonly number[], events: number): Promise<void> {
  await context.harness.behave(bad, HEALTHY);
  context.receivers.nameServer.isSilent = false;
  const isDone = await untilAnswered200(context, events, RECOVERY_SECONDS);
  if (!isDone) context.reporter.note('  Some deliveries to bad endpoints have failed for good meanwhile.');
  await pause(context, SETTLE_SECONDS);
}

/** Compares a window with those before and after it. */
export function besideRun(
  { kind, neighbours, share, perSecond }: Pick<BesideRun, 'kind' | 'neighbours' | 'share' | 'perSecond'>,
  alone: readonly OthersWindow[],
  beside: OthersWindow,
): BesideRun {
  const p99s = alone.map(({ latencyMs }) => latencyMs.p99);
  const aloneMs = meanOf(alone.map(({ latencyMs }) => latencyMs));
  const rate = alone.reduce((total, window) => total + window.perSecond, 0) / alone.length;
  return {
    ...{ kind, neighbours, share, perSecond, aloneMs, besideMs: beside.latencyMs },
    p99Ratio: beside.latencyMs.p99 / aloneMs.p99,
    aloneSpread: Math.max(...p99s) / Math.min(...p99s),
    rateRatio: beside.perSecond / rate,
  };
}

function meanOf(windows: readonly Percentiles[]): Percentiles {
  const mean = (figure: keyof Percentiles): number =>
    windows.reduce((total, window) => total + window[figure], 0) / windows.length;
  return { count: mean('count'), p50: mean('p50'), p99: mean('p99'), p999: mean('p999'), most: mean('most') };
}

export function besideText({ aloneMs, besideMs, p99Ratio, aloneSpread, rateRatio }: BesideRun): string {
  const text = ({ p50, p99 }: Percentiles): string => `p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms`;
  return `the 100 ${text(aloneMs)} alone, ${text(besideMs)} beside it: p99 x ${p99Ratio.toFixed(2)} (windows alone differ by x ${aloneSpread.toFixed(2)}), rate x ${rateRatio.toFixed(3)}`;
}
