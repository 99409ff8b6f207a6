import { type TopicName, topics } from '@waypost/contracts';
import type {
  FleetSettings,
  Geofence,
  OperationalEvent,
  ReplayProgress,
  WebhookDelivery,
  WebhookReplay,
  WebhookSubscription,
} from '@waypost/domain';
import { fitsOperationalEvents, type ManagedResources, openRefill } from '@waypost/management-store';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { CliError, createStatusLine, type Terminal, writeLine } from '../terminal/output.js';
import { decodeBatch, type DecodedRecord } from '../topic-reading/decode-batch.js';
import { openLog } from '../topic-reading/open-log.js';
import { placeInLog } from '../topic-reading/read-topic.js';

/**
 * Fills a database that was lost from the topics: fleets, geofences, subscriptions with their sealed secrets, replays and
 * operational events, with their ids and versions. The projector rebuilds the history from the log.
 */
export async function refill(terminal: Terminal, { dataDir }: { readonly dataDir: string }): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const database = await openRefill(stack.require('DATABASE_URL'));
  const status = createStatusLine(terminal);
  try {
    const inUse = await database.tablesInUse();
    if (inUse.length > 0) throw notEmpty(inUse, 'Nothing was written.');
    // First, since they can be written again: an interrupted refill starts over in the same database.
    status.show(`reading ${topics.webhookOperations.name}`);
    const events = await copyOperationalEvents(stack, (some) => database.operationalEvents(some));
    const contents = await readContents(stack, (topic) => status.show(`reading ${topic}`));
    const result = await database.managedResources(contents);
    if (result.type === 'not_empty') throw notEmpty(result.tables, 'Only operational events were written.');
    status.clear();
    await report(terminal, contents, events);
    if (events.unfit > 0) throw notAllRefilled(events.unfit);
  } finally {
    status.clear();
    await database.close();
  }
}

/** Said last, since everything else is refilled: a script must not take it for all. */
function notAllRefilled(count: number): CliError {
  const which = count === 1 ? '1 operational event that does' : `${String(count)} operational events that do`;
  return new CliError(`Everything was refilled except ${which} not fit the table, as listed above.`, 1);
}

function notEmpty(tables: readonly string[], written: string): CliError {
  return new CliError(
    `The database is in use: ${tables.join(', ')} already have rows. Refill only a database that was lost and created ` +
      `again. ${written}`,
  );
}

async function report({ out, err }: Terminal, contents: RefillContents, events: CopiedEvents): Promise<void> {
  const { fleets, geofences, subscriptions, replays } = contents;
  const count = (things: readonly unknown[], one: string, many = `${one}s`): string =>
    `${String(things.length)} ${things.length === 1 ? one : many}`;
  await writeLine(
    out,
    `refilled ${count(fleets, 'fleet')}, ${count(geofences, 'geofence')}, ${count(subscriptions, 'subscription')}, ` +
      `${count(replays, 'replay')}, ${String(events.count)} operational events`,
  );
  for (const text of [...events.leftOut, ...contents.leftOut]) await writeLine(err, `left out: ${text}`);
  for (const text of NOT_REFILLED) await writeLine(err, `not refilled: ${text}`);
}

const NOT_REFILLED = [
  'API keys. No topic has them: restore the table api_keys from a backup, or create a new key per fleet with "fleet key <id>" and give it to the owner.',
  'portal settings (allowed origins and appearance): restore the table fleet_portals, or set them again.',
  'idempotency keys: a repeated request is executed again.',
  'changes that were still in the outbox. Their callers know that they were not yet published.',
  'the delivery history. history-projector fills it from the log; "rebuild --watch" shows the progress.',
];

interface RefillContents extends ManagedResources {
  /** What was left out, in words for a person. */
  readonly leftOut: readonly string[];
}

const EVERYTHING = { from: null, to: null, untilEnd: true } as const;

/** Reads all managed resources from the topics, up to their current ends. */
async function readContents(stack: StackEnvironment, say: (topic: string) => void): Promise<RefillContents> {
  const leftOut: string[] = [];

  async function each(topic: TopicName, take: (record: DecodedRecord) => void): Promise<void> {
    say(topic);
    await eachBatch(stack, topic, (records) => {
      for (const record of records) {
        if (record.problem === undefined) take(record);
        else leftOut.push(placeInLog(record));
      }
      return Promise.resolve();
    });
  }
  /** The newest value of each key; a tombstone deletes. */
  async function newest<T>(topic: TopicName): Promise<T[]> {
    const found = new Map<string | null, T>();
    await each(topic, ({ key, value }) => {
      if (value === null) found.delete(key);
      else found.set(key, value as T);
    });
    return [...found.values()];
  }

  const fleets = await newest<FleetSettings>(topics.fleetSettings.name);
  const geofences = await newest<Geofence>(topics.fleetGeofences.name);
  const subscriptions = await newest<WebhookSubscription>(topics.webhookSubscriptions.name);
  const replays = await newest<WebhookReplay>(topics.webhookReplays.name);
  const progress = await newest<ReplayProgress>(topics.replayProgress.name);
  // A forgotten replay may have left deliveries, so its series number must not be assigned again.
  const series = new Map<string, number>();
  await each(topics.webhookDeliveries.name, ({ value }) => {
    if (value !== null) raise(series, value as WebhookDelivery);
  });
  replays.forEach((replay) => raise(series, replay));

  const ofKnownFleets = keepKnown(new Set(fleets.map(({ fleetId }) => fleetId)), leftOut);
  const kept = ofKnownFleets('subscriptions', subscriptions);
  // Operational events of a deleted subscription cannot be queried.
  const subscriptionIds = new Set(kept.map(({ id }) => id));
  const keptReplays = replays.filter(({ subscriptionId }) => subscriptionIds.has(subscriptionId));
  const replayIds = new Set(keptReplays.map(({ replayId }) => replayId));
  return {
    fleets,
    geofences: ofKnownFleets('geofences', geofences),
    subscriptions: kept,
    replays: keptReplays,
    replayProgress: progress.filter(({ replayId }) => replayIds.has(replayId)),
    lastSeries: new Map([...series].filter(([subscriptionId]) => subscriptionIds.has(subscriptionId))),
    leftOut,
  };
}

/** Series 0 is the first delivery, not a replay. */
function raise(
  last: Map<string, number>,
  { subscriptionId, series }: { readonly subscriptionId: string; readonly series: number },
): void {
  if (series > (last.get(subscriptionId) ?? 0)) last.set(subscriptionId, series);
}

function keepKnown(fleetIds: ReadonlySet<string>, leftOut: string[]) {
  return <T extends { readonly fleetId: string }>(what: string, things: readonly T[]): T[] => {
    const strays = things.filter(({ fleetId }) => !fleetIds.has(fleetId));
    if (strays.length > 0) {
      const of = [...new Set(strays.map(({ fleetId }) => fleetId))].join(', ');
      leftOut.push(`${String(strays.length)} ${what} of fleets that are not in ${topics.fleetSettings.name}: ${of}`);
    }
    return things.filter(({ fleetId }) => fleetIds.has(fleetId));
  };
}

interface CopiedEvents {
  readonly count: number;
  /** How many of those left out were read, but do not fit the table. */
  readonly unfit: number;
  readonly leftOut: readonly string[];
}

/** Copies the operational events that are still in the log, batch by batch. */
async function copyOperationalEvents(
  stack: StackEnvironment,
  take: (events: readonly OperationalEvent[]) => Promise<void>,
): Promise<CopiedEvents> {
  let [count, unfit] = [0, 0];
  const leftOut: string[] = [];
  await eachBatch(stack, topics.webhookOperations.name, async (records) => {
    const fitting: OperationalEvent[] = [];
    for (const record of records) {
      if (record.problem !== undefined) leftOut.push(placeInLog(record));
      else if (record.value === null) continue;
      else if (fitsOperationalEvents(record.value as OperationalEvent)) fitting.push(record.value as OperationalEvent);
      else {
        unfit += 1;
        leftOut.push(placeInLog({ ...record, problem: 'an id is not a UUID, or the time is out of range' }));
      }
    }
    count += fitting.length;
    await take(fitting);
  });
  return { count, unfit, leftOut };
}

async function eachBatch(
  stack: StackEnvironment,
  topic: TopicName,
  take: (records: readonly DecodedRecord[]) => Promise<void>,
): Promise<void> {
  const log = openLog(stack, topic);
  try {
    await log.read(EVERYTHING, async (batch) => take(await decodeBatch(log.codec, batch)));
  } finally {
    await log.close();
  }
}
