import { consumerGroups, topics } from '@waypost/contracts';
import { SUSPEND_AFTER_MS } from '@waypost/domain';
import { connectKafka } from '@waypost/streams';
import type { BenchContext } from '../bench-context.js';
import type { IsolationRow } from '../bench-flags.js';
import { HEALTHY } from '../sink/origin.js';
import { FLOOD_SUBSCRIPTIONS, pauseHeld } from '../stack/subscribers.js';
import { endpointsOf, type NeighbourKind } from './neighbours.js';
import { alike } from './rated-load.js';
import { pause } from './window.js';

/** Windows beside the held fleet leave the behaviour of its endpoints alone: they never answer. */
export const HELD_KINDS = {
  parked: { title: 'a backlog of a dead fleet, parked in the log', behaviour: HEALTHY },
  held: { title: 'a backlog of a suspended fleet', behaviour: HEALTHY },
  paused: { title: 'a backlog of a paused fleet', behaviour: HEALTHY },
} as const satisfies Record<string, NeighbourKind>;
export type HeldKind = keyof typeof HELD_KINDS;

export function isHeldKind(row: IsolationRow): row is HeldKind {
  return row in HELD_KINDS;
}

type Step = readonly [row: HeldKind, prepare: () => Promise<void>];

/**
 * Gives the held fleet its backlog. Its endpoints are dead: the deliveries are parked until they have failed for five
 * minutes, then suspended, and paused last, so that one backlog serves all three rows.
 */
export async function fillHeldFleet(context: BenchContext): Promise<readonly Step[]> {
  const { harness, subscribers, applications, receivers, flags, reporter, now } = context;
  const failingFromMs = now();
  await harness.forget();
  await harness.behave(endpointsOf(FLOOD_SUBSCRIPTIONS), { type: 'silent' });
  await reporter.during(`Filling the log with ${String(flags.heldBacklog)} deliveries`, async () => {
    const events = Math.ceil(flags.heldBacklog / FLOOD_SUBSCRIPTIONS);
    await writeEvents(context, subscribers.held, events);
    await untilFannedOut(context);
    const seconds = (now() - failingFromMs) / 1_000;
    reporter.note(`  ${seconds.toFixed(0)} s: ${(flags.heldBacklog / seconds).toFixed(0)} deliveries/s`);
  });
  return [
    ['parked', () => Promise.resolve()],
    ['held', () => untilSuspended(context, failingFromMs)],
    ['paused', () => pauseHeld(subscribers, applications, receivers)],
  ];
}

/** Commits events as quickly as the broker takes them. */
export async function writeEvents(
  { harness }: BenchContext,
  fleet: Parameters<typeof alike>[0][number],
  events: number,
): Promise<void> {
  await harness.start({ targets: alike([fleet]), amount: { type: 'flood', events } });
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

/** After five minutes of failures the next one suspends; a series of attempts has one at least every 15 s. */
const SUSPENSION_SPARE_SECONDS = 60;

async function untilSuspended(context: BenchContext, failingFromMs: number): Promise<void> {
  const { system, now, reporter } = context;
  await pause(context, Math.max(0, failingFromMs + SUSPEND_AFTER_MS - now()) / 1_000);
  for (let seconds = 0; seconds < SUSPENSION_SPARE_SECONDS; seconds++) {
    if ((await system.metric('waypost_subscriptions_suspended')) >= FLOOD_SUBSCRIPTIONS) return;
    await pause(context, 1);
  }
  const suspended = await system.metric('waypost_subscriptions_suspended');
  reporter.note(`  Only ${String(suspended)} of ${String(FLOOD_SUBSCRIPTIONS)} subscriptions are suspended.`);
}

/** Ends a backlog as the retention would: what no longer is in the log is not sent. */
export async function truncateDeliveries({ stack, harness }: BenchContext): Promise<void> {
  const topic = topics.webhookDeliveries.name;
  const admin = connectKafka(stack.kafka).admin();
  await admin.connect();
  try {
    const ends = await admin.fetchTopicOffsets(topic);
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
    await admin.deleteTopicRecords({ topic, partitions });
  } finally {
    await admin.disconnect();
  }
  await harness.behave(endpointsOf(FLOOD_SUBSCRIPTIONS), HEALTHY);
}
