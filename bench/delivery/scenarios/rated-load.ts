import { deliveriesOf, type Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type LoadPlan, SENT, type Target } from '../load/messages.js';
import type { SentEvents } from '../workers/harness.js';
import { type MeasuredWindow, measureWindow, pause, untilAnswered200 } from './window.js';

/** A rate at which the load generator fell so far behind measures the generator. */
const MOST_BEHIND_MS = 250;

interface RatedLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** The target's position is taken for its endpoint. Default: the 100 alike. */
  readonly targets?: readonly Target[];
  readonly records?: LoadPlan['records'];
}

/** Starts a load of a set rate for endpoints of one subscription each. */
export async function startRated({ harness, subscribers }: BenchContext, load: RatedLoad): Promise<void> {
  const { perSecond, seconds, targets = alike(subscribers.single), records = 'events' } = load;
  const events = Math.round(perSecond * seconds);
  await harness.start({ records, targets, amount: { type: 'rate', perSecond, events } });
}

/** Targets that get the same part of the events each. */
export function alike(fleets: readonly Omit<Target, 'weight'>[], weight = 1): Target[] {
  return fleets.map(({ fleetId, eventType }) => ({ fleetId, eventType, weight }));
}

/** Ends the load, or waits until it has sent everything. */
export async function finishRated({ harness, reporter }: BenchContext, { stop = false } = {}): Promise<SentEvents> {
  const sent = await harness.finish({ stop });
  if (sent.behindMs > MOST_BEHIND_MS)
    reporter.note(
      `  The load generator was ${sent.behindMs.toFixed(0)} ms behind its plan: this figure is worth little.`,
    );
  return sent;
}

/** The deliveries to single endpoints that come of the events, as far as the sink has them by now. */
export async function singleDeliveries({ harness }: BenchContext, sent: SentEvents): Promise<Delivery[]> {
  return deliveriesOf(sent, await harness.receipts(), (target) => [target]);
}

/** After the window, so that its last events are committed. */
const SPARE_SECONDS = 0.5;
const DRAIN_SECONDS = 30;

export interface MeasuredLoad {
  readonly window: MeasuredWindow;
  /** Those whose events were committed in the window. */
  readonly deliveries: readonly Delivery[];
}

/** A load of a set rate, and of it a window after a warm-up. `onEdge` is called when the window begins and ends. */
export async function measureRated(
  context: BenchContext,
  load: Omit<RatedLoad, 'seconds'>,
  onEdge: () => void = () => undefined,
): Promise<MeasuredLoad> {
  const { harness, flags } = context;
  await harness.forget();
  await startRated(context, { ...load, seconds: flags.warmUpSeconds + flags.seconds + SPARE_SECONDS });
  await pause(context, flags.warmUpSeconds);
  onEdge();
  const window = await measureWindow(context, flags.seconds);
  onEdge();
  const sent = await finishRated(context);
  await untilAnswered200(context, sent.events, DRAIN_SECONDS);
  return { window, deliveries: committedWithin(await singleDeliveries(context, sent), window) };
}

export function committedWithin(
  deliveries: readonly Delivery[],
  { fromMs, untilMs }: Pick<MeasuredWindow, 'fromMs' | 'untilMs'>,
): Delivery[] {
  return deliveries.filter(({ committedMs }) => committedMs >= fromMs && committedMs < untilMs);
}

/** Events for the first `count` targets of the plan. */
export function eventsOfTargets({ sent }: SentEvents, count: number): number {
  let events = 0;
  for (let row = 0; row < sent.rows; row += 1) if (sent.get(row, SENT.target) < count) events += 1;
  return events;
}
