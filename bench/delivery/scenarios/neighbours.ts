import type { Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { type Behaviour, HEALTHY, isAccepting } from '../sink/origin.js';
import { finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilAnswered200 } from './window.js';

/** A delivery is tried for some 54 s; one that failed meanwhile is no longer waited for. */
const RECOVERY_SECONDS = 60;
/** After a switch new connections are opened. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 5;

/** Some endpoints behave badly for a while. */
export interface NeighbourPlan {
  /** Endpoints. */
  readonly bad: readonly number[];
  /** Their part of all events, together. */
  readonly share: number;
  readonly perSecond: number;
  readonly behaviour: Behaviour;
}

/** One load with that behaviour. @returns the deliveries to the others, without those of the first second */
export async function measureOthers(context: BenchContext, plan: NeighbourPlan): Promise<Delivery[]> {
  const { harness, flags, subscribers } = context;
  const { bad, share, perSecond, behaviour } = plan;
  const isBad = new Set(bad);
  const others = subscribers.single.length - bad.length;
  const badWeight = ((share / (1 - share)) * others) / bad.length;
  await harness.forget();
  await harness.behave(bad, behaviour);
  const seconds = flags.seconds / 2 + SETTLE_SECONDS;
  await startRated(context, { perSecond, seconds, weightOf: (endpoint) => (isBad.has(endpoint) ? badWeight : 1) });
  const sent = await finishRated(context);
  const expected = isAccepting(behaviour) ? sent.events : Math.floor(sent.events * (1 - share));
  await untilAnswered200(context, expected, TAIL_SECONDS);
  const found = await singleDeliveries(context, sent);
  const begunMs = found[0]?.committedMs ?? NaN;
  await recover(context, plan, sent.events);
  return found.filter(
    ({ endpoint, committedMs }) => !isBad.has(endpoint) && committedMs >= begunMs + SETTLE_SECONDS * 1_000,
  );
}

/** The next window begins with nothing left of this one. */
async function recover(context: BenchContext, { bad, behaviour }: NeighbourPlan, events: number): Promise<void> {
  if (behaviour === HEALTHY) return;
  await context.harness.behave(bad, HEALTHY);
  const isDone = await untilAnswered200(context, events, RECOVERY_SECONDS);
  if (!isDone) context.reporter.note('  Some deliveries to bad endpoints have failed for good meanwhile.');
  await pause(context, SETTLE_SECONDS);
}
