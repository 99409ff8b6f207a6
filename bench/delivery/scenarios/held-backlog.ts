import { consumerGroups, topics } from '@waypost/contracts';
import { SUSPEND_AFTER_MS } from '@waypost/domain';
import { connectKafka } from '@waypost/streams/admin';
import type { BenchContext } from '../bench-context.js';
import type { Target } from '../load/messages.js';
import { type Behavior, HEALTHY } from '../sink/behaviors.js';
import { FLOOD_SUBSCRIPTIONS, HELD_ENDPOINT, pauseHeld } from '../stack/subscribers.js';
import type { NeighborKind } from './neighbors.js';
import { alike } from './rated-load.js';
import { pause } from './window.js';

/** In the order of the measurement; the endpoints of the held fleet are left as they are. */
export const HELD_KINDS = {
  held: { title: 'a backlog of a suspended fleet', behavior: HEALTHY },
  resumed: { title: 'that backlog, just resumed by a probe', behavior: HEALTHY },
  parked: { title: 'a backlog of a dead fleet, parked in the log', behavior: HEALTHY },
  paused: { title: 'a backlog of a paused fleet', behavior: HEALTHY },
} as const satisfies Record<string, NeighborKind>;
export type HeldKind = keyof typeof HELD_KINDS;

export function isHeldKind(row: string): row is HeldKind {
  return row in HELD_KINDS;
}

export const HELD_ENDPOINTS: readonly number[] = Array.from(
  { length: FLOOD_SUBSCRIPTIONS },
  (_, index) => HELD_ENDPOINT + index,
);

/** One backlog that is suspended, then resumed, then parked, then paused. */
export interface HeldFleet {
  prepare(kind: HeldKind): Promise<void>;
}

const FAILING: Behavior = { type: 'answer', status: 503, delayMs: 0 };
const DEAD: Behavior = { type: 'silent' };
const ACCEPTING_LATE: Behavior = { type: 'answer', status: 200, delayMs: 4_900 };
const STATE_SECONDS = 60;
/** As many deliveries as may have begun by then. */
const PARKED_SECONDS = 5;

/**
 * Lets the subscriptions fail from now on: they are suspended after five minutes of it, in which other rows are
 * measured. An accepted probe resumes them, and their endpoints are dead from then on.
 */
export async function openHeldFleet(context: BenchContext, deliveries: number): Promise<HeldFleet> {
  const { harness, subscribers, applications, receivers, system, reporter, now } = context;
  const failingFromMs = now();
  let isFilled = false;
  let isSuspended = false;
  await harness.behave(HELD_ENDPOINTS, FAILING);
  await writeEvents(context, [subscribers.held], 1);
  await pause(context, 1);

  async function fill(): Promise<void> {
    if (isFilled) return;
    isFilled = true;
    await reporter.during(`Filling the log with ${String(deliveries)} deliveries`, async () => {
      const startedMs = now();
      await writeEvents(context, [subscribers.held], Math.ceil(deliveries / FLOOD_SUBSCRIPTIONS));
      await untilFannedOut(context);
      const seconds = (now() - startedMs) / 1_000;
      reporter.note(`  ${seconds.toFixed(0)} s: ${(deliveries / seconds).toFixed(0)} deliveries/s`);
    });
  }

  async function untilSuspended(subscriptions: number): Promise<void> {
    const deadlineMs = now() + STATE_SECONDS * 1_000;
    const count = (): Promise<number> => system.metric('waypost_subscriptions_suspended');
    while ((await count()) !== subscriptions && now() < deadlineMs) await pause(context, 0.5);
    const found = await count();
    if (found !== subscriptions)
      reporter.note(`  ${String(found)} of ${String(FLOOD_SUBSCRIPTIONS)} subscriptions are suspended.`);
  }

  const prepareKind = {
    held: async () => {
      await pause(context, Math.max(0, failingFromMs + SUSPEND_AFTER_MS - now()) / 1_000 + 1);
      await writeEvents(context, [subscribers.held], 1);
      await untilSuspended(FLOOD_SUBSCRIPTIONS);
      isSuspended = true;
      await harness.behave(HELD_ENDPOINTS, DEAD);
      await fill();
    },
    resumed: async () => {
      if (!isSuspended) await prepareKind.held();
      await harness.behave(HELD_ENDPOINTS, ACCEPTING_LATE);
      await untilSuspended(0);
      isSuspended = false;
    },
    parked: async () => {
      if (isSuspended) await prepareKind.resumed();
      await harness.behave(HELD_ENDPOINTS, DEAD);
      await fill();
      await pause(context, PARKED_SECONDS);
    },
    paused: async () => {
      await fill();
      await pauseHeld(subscribers, applications, receivers);
    },
  };
  return { prepare: (kind) => prepareKind[kind]() };
}

/** Commits events as quickly as the broker takes them. */
export async function writeEvents(
  { harness }: BenchContext,
  fleets: readonly Omit<Target, 'weight'>[],
  events: number,
): Promise<void> {
  await harness.start({ targets: alike(fleets), amount: { type: 'flood', events } });
  await harness.finish({ stop: false });
}

const FAN_OUT_SECONDS = 900;
const POLL_SECONDS = 0.5;

/** Waits until every event has its deliveries in the log. */
export async function untilFannedOut(context: BenchContext): Promise<void> {
  const { stack, now } = context;
  const admin = connectKafka(stack.kafka).admin();
  const [topic, groupId] = [topics.fleetEvents.name, consumerGroups.fanOut.id];
  const deadlineMs = now() + FAN_OUT_SECONDS * 1_000;
  await admin.connect();
  try {
    const ends = await admin.fetchTopicOffsets(topic);
    for (;;) {
      const [{ partitions } = { partitions: [] }] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const committed = new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      if (ends.every(({ partition, high }) => (committed.get(partition) ?? -1) >= Number(high))) return;
      if (now() > deadlineMs) throw new Error('The fan-out has not come to the end of the events.');
      await pause(context, POLL_SECONDS);
    }
  } finally {
    await admin.disconnect();
  }
}
