import { deliveriesOf, type Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type LoadPlan, SENT, type Target } from '../load/messages.js';
import type { SentEvents } from '../workers/harness.js';

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

/** Waits until the load has sent everything. */
export async function finishRated({ harness, reporter }: BenchContext): Promise<SentEvents> {
  const sent = await harness.finish({ stop: false });
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

/** Those whose events were committed in the window. */
export function committedWithin(deliveries: readonly Delivery[], fromMs: number, untilMs: number): Delivery[] {
  return deliveries.filter(({ committedMs }) => committedMs >= fromMs && committedMs < untilMs);
}

/** Events for the first `count` targets of the plan. */
export function eventsOfTargets({ sent }: SentEvents, count: number): number {
  let events = 0;
  for (let row = 0; row < sent.rows; row += 1) if (sent.get(row, SENT.target) < count) events += 1;
  return events;
}
