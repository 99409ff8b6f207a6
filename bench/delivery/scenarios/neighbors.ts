import { topics } from '@waypost/contracts';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { deliveriesOf } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type EventWriter, openEventWriter } from '../load/event-writer.js';
import type { Target } from '../load/messages.js';
import { type Behavior, HEALTHY } from '../sink/behaviors.js';
import { RECEIPT } from '../sink/origin.js';
import {
  ENDPOINTS,
  FLOOD_SUBSCRIPTIONS,
  NEIGHBOR_URLS,
  NEIGHBORS,
  type NeighborUrl,
  type Subscribers,
} from '../stack/subscribers.js';
import type { NumberTable } from '../workers/number-table.js';
import { alike, finishRated } from './rated-load.js';
import { type MeasuredWindow, measureWindow, pause, secondsOf } from './window.js';

/** What the neighbors of the 100 do in a window. */
export interface NeighborKind {
  readonly title: string;
  readonly behavior: Behavior;
  /** Default: plain HTTP to an address. */
  readonly url?: NeighborUrl;
  /** The name server leaves queries for their names without an answer. */
  readonly hasSilentDns?: boolean;
  /** Before the window; longer where attempts end by a deadline of 5 s, so that the first of them have ended. */
  readonly settleSeconds?: number;
  /** One more fleet with 40 subscriptions has so many events: for each of them a second, or at once when the window begins. */
  readonly flood?: { readonly perSecond: number } | { readonly atOnce: number };
}

/** The load of a measurement; the neighbors' share is their part of all deliveries, together. */
export interface Traffic {
  readonly perSecond: number;
  readonly share: number;
}

/** What the 100 got in a window, and what it cost. */
export interface OthersWindow {
  readonly atMs: number;
  /** From the commit of an event to its receipt; what has not arrived by the end of the load counts until then. */
  readonly latencyMs: Percentiles;
  /** Deliveries received within the window. */
  readonly perSecond: number;
  /** What all other endpoints received and answered with 200, each second: whether they did what they are meant to do. */
  readonly neighbors: { readonly received: number; readonly answered200: number };
  /** Busy in that time; `foreign`: with other programs. */
  readonly cores: Readonly<Record<'delivery' | 'broker' | 'sink' | 'load' | 'foreign', number>>;
}

/** What 100 healthy endpoints notice of bad neighbors of one kind. */
export interface BesideRun extends Traffic {
  readonly kind: string;
  readonly neighbors: number;
  /** Of the 100, with healthy neighbors, in the windows before and after. */
  readonly aloneMs: Percentiles;
  readonly besideMs: Percentiles;
  readonly p99Ratio: number;
  /** Largest to smallest p99 of the windows alone: a ratio within it says nothing. */
  readonly aloneSpread: number;
  /** Deliveries received within the window, beside to alone. */
  readonly rateRatio: number;
  readonly windows?: { readonly alone: readonly OthersWindow[]; readonly beside: OthersWindow };
}

/** Who gets events beside the 100. */
export type Recipients =
  | { readonly to: 'neighbors'; readonly count: number; readonly url?: NeighborUrl; readonly floodPerSecond?: number }
  /** The 40 subscriptions of the held fleet. */
  | { readonly to: 'held' };

/** A load that goes on while the neighbors change. */
export interface RunningLoad {
  send(recipients: Recipients): Promise<void>;
  measure(seconds: number): Promise<void>;
}

const HEALTHY_NEIGHBORS: Recipients = { to: 'neighbors', count: 40 };
/** Of `--seconds`. */
export const BESIDE_PART = 0.25;
export const ALONE_PART = 0.2;
/** After a switch new connections are opened. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 1;

/** One load, of which `steps` measures windows. @returns a result for each of them */
async function measureUnderLoad(
  context: BenchContext,
  traffic: Traffic,
  steps: (load: RunningLoad) => Promise<void>,
): Promise<OthersWindow[]> {
  const { harness, subscribers, now } = context;
  const windows: MeasuredWindow[] = [];
  const { perSecond, weights } = changeOf(traffic, HEALTHY_NEIGHBORS);
  const targets = targetsOf(subscribers).map((target, index) => ({ ...target, weight: weights[index] ?? 0 }));
  await harness.forget();
  await harness.start({ targets, amount: { type: 'rate', perSecond, events: Number.MAX_SAFE_INTEGER } });
  await pause(context, SETTLE_SECONDS);
  await steps({
    send: (recipients) => harness.retarget(changeOf(traffic, recipients)),
    measure: async (seconds) => {
      windows.push(await measureWindow(context, seconds));
    },
  });
  const sent = await finishRated(context, { stop: true });
  await pause(context, TAIL_SECONDS);
  const endMs = now();
  const receipts = await harness.receipts();
  const others = deliveriesOf(sent, receipts, (target) => (target < ENDPOINTS ? [target] : []));
  const arrivals = others.map(({ committedMs, receipts: [first] }) => ({ committedMs, receivedMs: first?.receivedMs }));
  return windows.map((window) => {
    const isWithin = (atMs: number): boolean => atMs >= window.fromMs && atMs < window.untilMs;
    const committed = arrivals.filter(({ committedMs }) => isWithin(committedMs));
    const received = arrivals.filter(({ receivedMs }) => receivedMs !== undefined && isWithin(receivedMs));
    return {
      atMs: window.fromMs,
      latencyMs: percentilesOf(
        committed.map(({ committedMs, receivedMs = endMs }) => Math.max(0, receivedMs - committedMs)),
      ),
      perSecond: received.length / secondsOf(window),
      neighbors: neighborsIn(window, receipts),
      cores: coresOf(window),
    };
  });
}

/** The 100, then the neighbors by each kind of URL, then the fleets of 40 subscriptions. */
function targetsOf({ single, neighbors, flood, held }: Subscribers): Omit<Target, 'weight'>[] {
  const byUrl = Object.values(NEIGHBOR_URLS).flatMap((eventType) =>
    neighbors.map(({ fleetId }) => ({ fleetId, eventType })),
  );
  return [...single, ...byUrl, flood, held];
}

const URLS = Object.keys(NEIGHBOR_URLS);

/** The 100 always get the same. */
function changeOf({ perSecond, share }: Traffic, recipients: Recipients) {
  const others = perSecond * (1 - share);
  const bad = perSecond * share;
  const weights = new Map<number, number>();
  const [flood, held] = [ENDPOINTS + URLS.length * NEIGHBORS, ENDPOINTS + URLS.length * NEIGHBORS + 1];
  for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) weights.set(endpoint, others / ENDPOINTS);
  if (recipients.to === 'held') weights.set(held, bad / FLOOD_SUBSCRIPTIONS);
  else {
    const { count, url = 'http', floodPerSecond = 0 } = recipients;
    const first = ENDPOINTS + URLS.indexOf(url) * NEIGHBORS;
    for (let index = 0; index < count; index += 1) weights.set(first + index, bad / count);
    weights.set(flood, floodPerSecond);
  }
  const all = Array.from({ length: held + 1 }, (_, target) => weights.get(target) ?? 0);
  return { weights: all, perSecond: all.reduce((total, weight) => total + weight, 0) };
}

function neighborsIn(window: MeasuredWindow, receipts: NumberTable): OthersWindow['neighbors'] {
  const found = { received: 0, answered200: 0 };
  for (let row = 0; row < receipts.rows; row += 1) {
    const atMs = receipts.get(row, RECEIPT.receivedMs);
    if (receipts.get(row, RECEIPT.endpoint) < ENDPOINTS || atMs < window.fromMs || atMs >= window.untilMs) continue;
    found.received += 1;
    if (receipts.get(row, RECEIPT.status) === 200) found.answered200 += 1;
  }
  const seconds = secondsOf(window);
  return { received: found.received / seconds, answered200: found.answered200 / seconds };
}

function coresOf(window: MeasuredWindow): OthersWindow['cores'] {
  const seconds = secondsOf(window);
  const { cpuSeconds, harnessCpuSeconds } = window;
  return {
    delivery: cpuSeconds['webhook-delivery'] / seconds,
    broker: cpuSeconds.broker / seconds,
    sink: harnessCpuSeconds.sink / seconds,
    load: harnessCpuSeconds.load / seconds,
    foreign: window.foreignCores,
  };
}

export async function measureAlone(context: BenchContext, traffic: Traffic): Promise<OthersWindow> {
  const [window] = await measureUnderLoad(context, traffic, (load) => load.measure(secondsAlone(context)));
  return window ?? noWindow();
}

/** Beside the held fleet, whose endpoints stay as they are. */
export async function measureBesideHeld(context: BenchContext, traffic: Traffic): Promise<OthersWindow> {
  const [window] = await measureUnderLoad(context, traffic, async (load) => {
    await load.send({ to: 'held' });
    await pause(context, SETTLE_SECONDS);
    await load.measure(secondsBeside(context));
  });
  return window ?? noWindow();
}

function secondsAlone({ flags }: BenchContext): number {
  return flags.seconds * ALONE_PART;
}

function secondsBeside({ flags }: BenchContext): number {
  return flags.seconds * BESIDE_PART;
}

function noWindow(): never {
  throw new Error('Nothing was measured.');
}

/** A delivery that began in a window has failed at most three times, and most are due again within 6 s. */
const RECOVERY_SECONDS = { betweenCounts: 2, afterKind: 6, afterFlood: 60 };

/** Windows beside so many neighbors each; then, when little is left of them, one with healthy neighbors, which is the last. */
export async function measureBeside(
  context: BenchContext,
  traffic: Traffic,
  kind: NeighborKind,
  counts: readonly number[],
): Promise<OthersWindow[]> {
  const { harness, receivers, stack } = context;
  const { behavior, url = 'http', hasSilentDns = false, settleSeconds = SETTLE_SECONDS, flood } = kind;
  const writerOptions = { brokers: stack.kafka.brokers, registryUrl: stack.registryUrl };
  const writer = flood === undefined ? null : await openEventWriter(writerOptions);
  try {
    return await measureUnderLoad(context, traffic, async (load) => {
      for (const [index, count] of counts.entries()) {
        const bad = endpointsOf(count);
        await harness.behave(bad, behavior);
        receivers.nameServer.isSilent = hasSilentDns;
        const floodPerSecond = flood !== undefined && 'perSecond' in flood ? flood.perSecond : 0;
        await load.send({ to: 'neighbors', count, url, floodPerSecond });
        await pause(context, settleSeconds);
        if (writer !== null && flood !== undefined && 'atOnce' in flood)
          await writeFlood(context, writer, flood.atOnce);
        await load.measure(secondsBeside(context));
        receivers.nameServer.isSilent = false;
        if (behavior !== HEALTHY) await harness.behave(bad, HEALTHY);
        await load.send(HEALTHY_NEIGHBORS);
        const { betweenCounts, afterKind, afterFlood } = RECOVERY_SECONDS;
        const last = flood === undefined ? afterKind : afterFlood;
        await untilRecovered(context, index === counts.length - 1 ? last : betweenCounts);
      }
      await load.measure(secondsAlone(context));
    });
  } finally {
    await writer?.close();
  }
}

export function endpointsOf(neighbors: number): number[] {
  return Array.from({ length: neighbors }, (_, index) => ENDPOINTS + index);
}

async function writeFlood({ subscribers, now }: BenchContext, writer: EventWriter, count: number): Promise<void> {
  const [target] = alike([subscribers.flood]);
  if (target === undefined) return;
  const events = Array.from({ length: count }, (_, number) => ({ number, target }));
  await writer.write(events, { topic: topics.fleetEvents.name, records: 'events', sentMs: now() });
}

/** More than are under way at a moment of the load, when nothing is left of the neighbors. */
const MOST_PENDING = 100;
const POLL_SECONDS = 0.5;

/** Waits until deliveries no longer wait, or as long as that. @returns whether it is so */
export async function untilRecovered(context: BenchContext, seconds: number): Promise<boolean> {
  const { system, now } = context;
  const deadlineMs = now() + seconds * 1_000;
  await pause(context, SETTLE_SECONDS);
  for (;;) {
    const pending = await system.metric('waypost_deliveries_pending');
    if (pending <= MOST_PENDING && (await system.metric('waypost_subscriptions_parked')) === 0) return true;
    if (now() > deadlineMs) return false;
    await pause(context, POLL_SECONDS);
  }
}

/** Compares a window with those before and after it. */
export function besideRun(
  plan: Pick<BesideRun, 'kind' | 'neighbors' | 'share' | 'perSecond'>,
  alone: readonly OthersWindow[],
  beside: OthersWindow,
): BesideRun {
  const p99s = alone.map(({ latencyMs }) => latencyMs.p99);
  const aloneMs = meanOf(alone.map(({ latencyMs }) => latencyMs));
  const rate = alone.reduce((total, window) => total + window.perSecond, 0) / alone.length;
  return {
    ...plan,
    aloneMs,
    besideMs: beside.latencyMs,
    p99Ratio: beside.latencyMs.p99 / aloneMs.p99,
    aloneSpread: Math.max(...p99s) / Math.min(...p99s),
    rateRatio: beside.perSecond / rate,
    windows: { alone, beside },
  };
}

function meanOf(windows: readonly Percentiles[]): Percentiles {
  const mean = (figure: keyof Percentiles): number =>
    windows.reduce((total, window) => total + window[figure], 0) / windows.length;
  return { count: mean('count'), p50: mean('p50'), p99: mean('p99'), p999: mean('p999'), most: mean('most') };
}

export function besideText({ aloneMs, besideMs, p99Ratio, aloneSpread, rateRatio, windows }: BesideRun): string {
  const text = ({ p50, p99 }: Percentiles): string => `p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms`;
  const { neighbors, cores } = windows?.beside ?? noWindow();
  const at = `they got ${neighbors.received.toFixed(0)} requests/s and answered ${neighbors.answered200.toFixed(0)} with 200`;
  const used = Object.entries(cores).map(([part, value]) => `${part} ${value.toFixed(2)}`);
  return `the 100 ${text(aloneMs)} alone, ${text(besideMs)} beside it: p99 x ${p99Ratio.toFixed(2)} (windows alone differ by x ${aloneSpread.toFixed(2)}), rate x ${rateRatio.toFixed(3)}; ${at}; cores: ${used.join(', ')}`;
}
