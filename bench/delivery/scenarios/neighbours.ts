import { topics } from '@waypost/contracts';
import type { Delivery } from '../analysis/deliveries.js';
import type { BenchContext } from '../bench-context.js';
import { openEventWriter } from '../load/event-writer.js';
import { type Behaviour, HEALTHY, isAccepting } from '../sink/origin.js';
import { ENDPOINTS, FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';
import { finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilAnswered200 } from './window.js';

/** A delivery is tried for some 54 s; one that failed meanwhile is no longer waited for. */
const RECOVERY_SECONDS = 60;
/** After a switch new connections are opened. */
const SETTLE_SECONDS = 1;
const TAIL_SECONDS = 5;
const FLOOD_EVENTS = 2_000;

/** Some endpoints beside the 100 behave badly for a while. */
export interface NeighbourPlan {
  readonly neighbours: number;
  /** Their part of all events, together. */
  readonly share: number;
  readonly perSecond: number;
  readonly behaviour: Behaviour;
  /** One more fleet has 2,000 events for each of its 40 subscriptions at once, when the window begins. */
  readonly flood?: boolean;
}

/** One load with that behaviour. @returns the deliveries to the 100, without those of the first second */
export async function measureOthers(context: BenchContext, plan: NeighbourPlan): Promise<Delivery[]> {
  const { harness, flags } = context;
  const { neighbours, share, perSecond, behaviour, flood = false } = plan;
  const bad = Array.from({ length: neighbours }, (_, index) => ENDPOINTS + index);
  const badWeight = ((share / (1 - share)) * ENDPOINTS) / neighbours;
  const weightOf = (endpoint: number): number => {
    if (endpoint < ENDPOINTS) return 1;
    return endpoint < ENDPOINTS + neighbours ? badWeight : 0;
  };
  await harness.forget();
  await harness.behave(bad, behaviour);
  await startRated(context, { perSecond, seconds: flags.seconds / 2 + SETTLE_SECONDS, weightOf });
  if (flood) await writeFlood(context);
  const sent = await finishRated(context);
  const floodDeliveries = flood ? FLOOD_EVENTS * FLOOD_SUBSCRIPTIONS : 0;
  const expected = isAccepting(behaviour) ? sent.events + floodDeliveries : Math.floor(sent.events * (1 - share));
  await untilAnswered200(context, expected, flood ? RECOVERY_SECONDS : TAIL_SECONDS);
  const found = await singleDeliveries(context, sent);
  const begunMs = found[0]?.committedMs ?? NaN;
  await recover(context, bad, plan, sent.events);
  return found.filter(
    ({ endpoint, committedMs }) => endpoint < ENDPOINTS && committedMs >= begunMs + SETTLE_SECONDS * 1_000,
  );
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
async function recover(
  context: BenchContext,
  bad: readonly number[],
  { behaviour }: NeighbourPlan,
  events: number,
): Promise<void> {
  if (behaviour === HEALTHY) return;
  await context.harness.behave(bad, HEALTHY);
  const isDone = await untilAnswered200(context, events, RECOVERY_SECONDS);
  if (!isDone) context.reporter.note('  Some deliveries to bad endpoints have failed for good meanwhile.');
  await pause(context, SETTLE_SECONDS);
}
