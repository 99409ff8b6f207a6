import { consumerGroups, createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import {
  type FleetEvent,
  formatTime,
  type RuleSet,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { openGroupProgress, type PartitionProgress } from '@waypost/platform/without-nest';
import { partitionForKey } from '@waypost/streams';
import {
  createDeliveryLedger,
  type DeliveryFindings,
  type PublishedSubscription,
} from '../analysis/delivery-ledger.js';
import { createDeviceKnowledge, type DeviceKnowledge } from '../analysis/device-knowledge.js';
import { createEventLedger, type EventFindings, type LedgerEvent } from '../analysis/event-ledger.js';
import {
  createRuleRun,
  currentRules,
  readFleetSettings,
  readGeofences,
  readPings,
  type RecordedPing,
  type RuleRunOptions,
} from '../analysis/rule-run.js';
import {
  describeDeliveries,
  describeEvents,
  differencesOf,
  enterFollowed,
  enterLogged,
  type LoggedRecordsOptions,
} from '../analysis/verify-report.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, withProgress, writeLine } from '../terminal/output.js';
import { openLog } from '../topic-reading/open-log.js';
import { readTopic, readVersions } from '../topic-reading/read-topic.js';

export interface VerifyOptions {
  readonly dataDir: string;
  /** Where the range of the log begins, epoch milliseconds. */
  readonly from: number | null;
  readonly to: number | null;
  /** Those that telemetry-processor was run with. */
  readonly rules: RuleSet;
}

/**
 * Proves that fleet.events holds exactly what the rules make of telemetry.pings, field by field and as often, and that every
 * event has its deliveries and what became of them. Reads only. Events of devices whose state is not known, because the
 * oldest pings are gone, are counted and no difference.
 *
 * @throws CliError when something is missing, unexpected or repeated
 */
export async function verify(terminal: Terminal, options: VerifyOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const progress = await readProgress(stack);
  const events = await verifyEvents(terminal, stack, options, progress);
  const deliveries = await verifyDeliveries(terminal, stack, options, progress);
  const lines = [...describeEvents(events, progress.pings.some(isCut)), ...describeDeliveries(deliveries)];
  for (const line of lines) await writeLine(terminal.out, line);
  const wrong = differencesOf(events, deliveries);
  if (wrong.length > 0) throw new CliError(`The logs do not match: ${String(wrong.length)} differences.`);
}

/** How far the applications are: only records they have finished can be checked. */
interface StackProgress {
  /** Fan-out's positions on fleet.events, read first: later events may come from pings that are not read. */
  readonly events: readonly PartitionProgress[];
  readonly pings: readonly PartitionProgress[];
}

async function readProgress(stack: StackEnvironment): Promise<StackProgress> {
  const reader = await openGroupProgress(kafkaSettings(stack));
  try {
    const events = await reader.read([consumerGroups.fanOut]);
    return { events, pings: await reader.read([consumerGroups.telemetryProcessor]) };
  } finally {
    await reader.close();
  }
}

function committedEnds(progress: readonly PartitionProgress[]): Map<number, number> {
  return new Map(progress.map(({ partition, committedOffset }) => [partition, committedOffset ?? 0]));
}

async function verifyEvents(
  terminal: Terminal,
  stack: StackEnvironment,
  { from, to, rules }: VerifyOptions,
  progress: StackProgress,
): Promise<EventFindings> {
  const codec = createAvroCodecs({ registry: createSchemaRegistry(registrySettings(stack)) }).fleetEvents;
  await codec.prepare();
  const geofences = await readGeofences(stack);
  const settings = await readFleetSettings(stack);
  const run = currentRules(geofences.history, { rules, fleetSettings: settings.history });
  const cut = new Set(progress.pings.filter(isCut).map(({ partition }) => partition));
  const knowledge = createDeviceKnowledge({ ...run, cut, geofenceIds: (fleetId) => geofences.ids(fleetId) });
  const ledger = createEventLedger();
  for (const place of [...geofences.unreadable, ...settings.unreadable]) ledger.unreadable(place);
  const entryOf = (partition: number, event: FleetEvent): LedgerEvent => ({
    partition,
    encoded: codec.encode(event),
    name: nameOf(event),
    isJudged: event.eventTime > knowledge.knownSince(partition, event),
  });
  await recompute(terminal, stack, { run, knowledge, ends: committedEnds(progress.pings) }, (recorded, event) => {
    const inRange = isWithin(recorded.appendedAt, from, to);
    ledger.recomputed({ ...entryOf(recorded.partition, event), inRange });
  });
  const settled = new Map(progress.events.map(({ partition, endOffset }) => [partition, endOffset]));
  const logged: LoggedRecordsOptions = {
    ledger,
    entryOf,
    isSettled: ({ partition, offset }) => offset < (settled.get(partition) ?? 0),
    isInRange: ({ timestamp }) => isWithin(timestamp, from, to),
  };
  await withProgress(terminal, ({ onTotal, advance }) =>
    readTopic(stack, topics.fleetEvents.name, { from, onTotal }, (records) => {
      enterLogged(records, logged);
      advance(records.length, (done) => `${String(done)} events`);
    }),
  );
  return ledger.findings();
}

interface Recomputation {
  readonly run: RuleRunOptions;
  readonly knowledge: DeviceKnowledge;
  readonly ends: ReadonlyMap<number, number>;
}

async function recompute(
  terminal: Terminal,
  stack: StackEnvironment,
  { run: options, knowledge, ends }: Recomputation,
  take: (recorded: RecordedPing, event: FleetEvent) => void,
): Promise<void> {
  const run = createRuleRun(options);
  await withProgress(terminal, ({ onTotal, advance }) =>
    readPings(stack, { ends, onTotal }, (pings) => {
      for (const recorded of pings) {
        const step = run.take(recorded);
        knowledge.observe(recorded, step);
        for (const event of step.events) take(recorded, event);
      }
      advance(pings.length, (done) => `${String(done)} pings`);
    }),
  );
}

async function verifyDeliveries(
  terminal: Terminal,
  stack: StackEnvironment,
  { from, to }: VerifyOptions,
  progress: StackProgress,
): Promise<DeliveryFindings> {
  const { subscriptions, unreadable } = await readSubscriptions(stack);
  const ledger = createDeliveryLedger(subscriptions, to);
  for (const place of unreadable) ledger.unreadable(place);
  await readTopic(stack, topics.fleetEvents.name, { from, to, ends: committedEnds(progress.events) }, (records) => {
    for (const { value, timestamp } of records) {
      // An unreadable event has no delivery; it is reported with the events.
      if (value !== null) ledger.event(value as FleetEvent, timestamp);
    }
  });
  // Its deliveries and attempts come after an event: the range has no end here.
  await withProgress(terminal, ({ onTotal, advance }) =>
    readTopic(stack, topics.webhookDeliveries.name, { from, onTotal }, (records) => {
      enterFollowed(records, ledger, (value) => ledger.delivery(value as WebhookDelivery));
      advance(records.length, (done) => `${String(done)} deliveries`);
    }),
  );
  await withProgress(terminal, ({ onTotal, advance }) =>
    readTopic(stack, topics.webhookAttempts.name, { from, onTotal }, (records) => {
      enterFollowed(records, ledger, (value) => ledger.attempt(value as WebhookAttempt));
      advance(records.length, (done) => `${String(done)} attempts`);
    }),
  );
  // At last: what has left the logs while they were read is not missing either.
  return ledger.findings({
    deliveries: await keptSinceOf(stack, topics.webhookDeliveries.name),
    attempts: await keptSinceOf(stack, topics.webhookAttempts.name),
  });
}

/** Since when a topic has all records of a subscription, its key. */
async function keptSinceOf(stack: StackEnvironment, topic: string): Promise<(subscriptionId: string) => number> {
  const log = openLog(stack, topic);
  try {
    const since = await log.keptSince();
    return (subscriptionId) => since[partitionForKey(Buffer.from(subscriptionId), since.length)] ?? -Infinity;
  } finally {
    await log.close();
  }
}

/** As their topic has them now. */
async function readSubscriptions(
  stack: StackEnvironment,
): Promise<{ readonly subscriptions: readonly PublishedSubscription[]; readonly unreadable: readonly string[] }> {
  const newest = new Map<string, PublishedSubscription>();
  const { name } = topics.webhookSubscriptions;
  const unreadable = await readVersions<WebhookSubscription>(stack, name, ({ key, value, appendedAt }) => {
    if (value === null) newest.delete(key);
    else newest.set(key, { subscription: value, publishedAt: appendedAt });
  });
  return { subscriptions: [...newest.values()], unreadable };
}

function isWithin(at: number, from: number | null, to: number | null): boolean {
  return (from === null || at >= from) && (to === null || at < to);
}

function nameOf({ fleetId, deviceId, eventType, eventTime }: FleetEvent): string {
  return `${eventType} of ${deviceId} (${fleetId}) at ${formatTime(eventTime)}`;
}

function isCut({ startOffset }: PartitionProgress): boolean {
  return startOffset > 0;
}
