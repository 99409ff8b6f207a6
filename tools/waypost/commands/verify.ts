import { consumerGroups, createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import {
  DEFAULT_RULE_SETTINGS,
  formatTime,
  type FleetEvent,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { openGroupProgress, type PartitionProgress } from '../../kafka-admin/group-progress.js';
import { createDeliveryLedger, type DeliveryFindings } from '../analysis/delivery-ledger.js';
import { createEventLedger, type EventFindings } from '../analysis/event-ledger.js';
import { readGeofences, readPings, readTopic } from '../analysis/recorded-log.js';
import { createRuleRun } from '../analysis/rule-run.js';
import { CliError } from '../cli-error.js';
import { kafkaSettings } from '../stack/kafka-settings.js';
import { registrySettings } from '../stack/registry-settings.js';
import { stackEnvironment, type StackEnvironment } from '../stack/stack-config.js';
import { writeLine, type Terminal } from '../terminal/output.js';
import { createProgress, type Progress } from '../terminal/progress.js';

export interface VerifyOptions {
  readonly dataDir: string;
  /** Of the log, epoch milliseconds. */
  readonly from: number | null;
  readonly to: number | null;
}

/**
 * Proves that fleet.events holds exactly what the rules make of telemetry.pings, field by field and as often, and that every
 * event has its deliveries and what became of them. Reads only.
 *
 * @throws CliError when something is missing, unexpected or repeated
 */
export async function verify(terminal: Terminal, options: VerifyOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const progress = await readProgress(stack);
  const events = await verifyEvents(terminal, stack, options, progress);
  const deliveries = await verifyDeliveries(terminal, stack, options, progress);
  for (const line of [...describeEvents(events, progress.pings), ...describeDeliveries(deliveries)]) {
    await writeLine(terminal.out, line);
  }
  const wrong = [
    ...events.missing,
    ...events.unexpected,
    ...events.repeated,
    ...deliveries.missing,
    ...deliveries.repeated,
  ];
  if (wrong.length > 0) throw new CliError(`The logs do not agree: ${String(wrong.length)} differences.`);
}

/** How far the applications are. Only what they have finished can be held against what they have made of it. */
interface StackProgress {
  /** Of fan-out on fleet.events, read first: what lies behind its ends may come from pings that are not read. */
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

const committedEnds = (progress: readonly PartitionProgress[]): Map<number, number> =>
  new Map(progress.map(({ partition, committedOffset }) => [partition, committedOffset ?? 0]));

async function verifyEvents(
  terminal: Terminal,
  stack: StackEnvironment,
  { from, to }: VerifyOptions,
  progress: StackProgress,
): Promise<EventFindings> {
  const codec = createAvroCodecs({ registry: createSchemaRegistry(registrySettings(stack)) }).fleetEvents;
  await codec.prepare();
  const run = createRuleRun(DEFAULT_RULE_SETTINGS, await readGeofences(stack));
  const ledger = createEventLedger();
  const ends = committedEnds(progress.pings);
  const settled = new Map(progress.events.map(({ partition, endOffset }) => [partition, endOffset]));
  await withProgress(terminal, 'pings', (onTotal, advance) =>
    readPings(stack, { ends, onTotal }, (pings) => {
      for (const recorded of pings) {
        const inRange = isWithin(recorded.appendedAt, from, to);
        for (const event of run.take(recorded)) {
          ledger.recomputed(recorded.partition, codec.encode(event), nameOf(event), inRange);
        }
      }
      advance(pings.length);
    }),
  );
  await withProgress(terminal, 'events', (onTotal, advance) =>
    readTopic(stack, topics.fleetEvents.name, { from, onTotal }, (records) => {
      for (const { partition, offset, value } of records) {
        const event = value as FleetEvent;
        ledger.logged(partition, codec.encode(event), nameOf(event), offset < (settled.get(partition) ?? 0));
      }
      advance(records.length);
    }),
  );
  return ledger.findings();
}

async function verifyDeliveries(
  terminal: Terminal,
  stack: StackEnvironment,
  { from, to }: VerifyOptions,
  progress: StackProgress,
): Promise<DeliveryFindings> {
  const newest = new Map<string, WebhookSubscription | null>();
  await readTopic(stack, topics.webhookSubscriptions.name, {}, (records) => {
    for (const { key, value } of records) newest.set(key ?? '', value as WebhookSubscription | null);
  });
  const ledger = createDeliveryLedger([...newest.values()].filter((subscription) => subscription !== null));
  await readTopic(stack, topics.fleetEvents.name, { from, to, ends: committedEnds(progress.events) }, (records) => {
    for (const { value, timestamp } of records) ledger.event(value as FleetEvent, timestamp);
  });
  // Its deliveries and attempts come after an event: the range has no end here.
  await withProgress(terminal, 'deliveries', (onTotal, advance) =>
    readTopic(stack, topics.webhookDeliveries.name, { from, onTotal }, (records) => {
      for (const { value } of records) ledger.delivery(value as WebhookDelivery);
      advance(records.length);
    }),
  );
  await withProgress(terminal, 'attempts', (onTotal, advance) =>
    readTopic(stack, topics.webhookAttempts.name, { from, onTotal }, (records) => {
      for (const { value } of records) ledger.attempt(value as WebhookAttempt);
      advance(records.length);
    }),
  );
  return ledger.findings();
}

async function withProgress(
  terminal: Terminal,
  what: string,
  read: (onTotal: (offsets: number) => void, advance: (records: number) => void) => Promise<void>,
): Promise<void> {
  const shown: { progress: Progress | null } = { progress: null };
  let done = 0;
  try {
    await read(
      (offsets) => {
        shown.progress = createProgress(terminal, offsets);
      },
      (records) => {
        done += records;
        shown.progress?.update(done, `${String(done)} ${what}`);
      },
    );
  } finally {
    shown.progress?.stop();
  }
}

const isWithin = (at: number, from: number | null, to: number | null): boolean =>
  (from === null || at >= from) && (to === null || at < to);

const nameOf = ({ fleetId, deviceId, eventType, eventTime }: FleetEvent): string =>
  `${eventType} of ${deviceId} (${fleetId}) at ${formatTime(eventTime)}`;

const EXAMPLES = 5;

function describe(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > EXAMPLES ? ', ...' : '';
  return [`  ${what}: ${String(names.length)} (${names.slice(0, EXAMPLES).join('; ')}${more})`];
}

function describeEvents(events: EventFindings, processed: readonly PartitionProgress[]): string[] {
  const isCut = processed.some(({ startOffset }) => startOffset > 0);
  const note = '  The oldest pings are gone: what devices were remembered by before them is not known here.';
  return [
    `events: ${String(events.recomputed)} recomputed from the pings, ${String(events.logged)} in fleet.events`,
    ...describe('missing', events.missing),
    ...describe('unexpected', events.unexpected),
    ...describe('repeated', events.repeated),
    ...(isCut ? [note] : []),
  ];
}

function describeDeliveries(deliveries: DeliveryFindings): string[] {
  const { expected, found, delivered, failed, pending, changedSubscriptions } = deliveries;
  const note = `  ${String(changedSubscriptions)} subscriptions were changed since: of these only what was made is looked at.`;
  return [
    `deliveries: ${String(expected)} expected, ${String(found)} found; ${String(delivered)} delivered, ${String(failed)} failed, ${String(pending)} pending`,
    ...describe('missing', deliveries.missing),
    ...describe('repeated', deliveries.repeated),
    ...(changedSubscriptions > 0 ? [note] : []),
  ];
}
