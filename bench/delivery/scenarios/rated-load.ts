import { deliveriesOf, type Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import type { LoadPlan } from '../load/messages.js';
import { ENDPOINTS } from '../stack/subscribers.js';
import type { SentEvents } from '../workers/harness.js';

/** A rate at which the load generator fell so far behind measures the generator. */
const MOST_BEHIND_MS = 250;

interface RatedLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Weight of an endpoint: the 100 are 0 to 99, neighbours follow. Default: the 100 alike, and no neighbours. */
  readonly weightOf?: (endpoint: number) => number;
  readonly records?: LoadPlan['records'];
}

/** Starts a load of a set rate for endpoints of one subscription each. */
export async function startRated({ harness, subscribers }: BenchContext, load: RatedLoad): Promise<void> {
  const { perSecond, seconds, weightOf = isOneOfTheHundred, records = 'events' } = load;
  const targets = [...subscribers.single, ...subscribers.neighbours].map((fleet, endpoint) => ({
    ...fleet,
    weight: weightOf(endpoint),
  }));
  await harness.start({
    records,
    targets,
    amount: { type: 'rate', perSecond, events: Math.round(perSecond * seconds) },
  });
}

function isOneOfTheHundred(endpoint: number): number {
  return endpoint < ENDPOINTS ? 1 : 0;
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
