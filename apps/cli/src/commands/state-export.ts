import { allConsumerGroups, type TopicDefinition, topics } from '@waypost/contracts';
import type { SubscriptionState } from '@waypost/domain';
import { openManagementStore } from '@waypost/management-store';
import { openGroupProgress } from '@waypost/platform/without-nest';
import type { RecordBatch } from '@waypost/streams';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { MOVED_TOPICS, partitionIn } from '../state-transfer/moved-topics.js';
import { StateFileWriter, type StateRecord } from '../state-transfer/state-file.js';
import { assertApplicationsStopped } from '../state-transfer/stopped-applications.js';
import { CliError, createStatusLine, type Terminal, writeLine } from '../terminal/output.js';
import { decodeBatch, type DecodedRecord } from '../topic-reading/decode-batch.js';
import { openLog } from '../topic-reading/open-log.js';
import { placeInLog, readVersions } from '../topic-reading/read-topic.js';
import { describeLag, lagOf } from './wait.js';

export interface StateExportOptions {
  readonly dataDir: string;
  /** An absolute path. */
  readonly file: string;
}

const MOST_SHOWN = 10;

/**
 * Writes what new topics need to continue: settings of fleets, geofences, subscriptions and the state of devices.
 * Refuses while anything is unfinished, since nothing else moves: deliveries that were not made would be lost.
 */
export async function exportState(terminal: Terminal, { dataDir, file }: StateExportOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const status = createStatusLine(terminal);
  try {
    status.show('checking that nothing is unfinished');
    await assertFinished(stack);
    const leftOut: string[] = [];
    const writer = await StateFileWriter.create(file);
    try {
      for (const topic of MOVED_TOPICS) {
        status.show(`reading ${topic.name}`);
        leftOut.push(...(await copyTopic(stack, topic, (records) => writer.write(records))));
      }
      // Whatever has happened since the first check may be missing in the file.
      await assertFinished(stack);
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    const records = await writer.finish();
    status.clear();
    await writeLine(terminal.out, `exported ${String(records)} records to ${file}`);
    for (const text of leftOut) await writeLine(terminal.err, `left out, as the applications do: ${text}`);
  } finally {
    status.clear();
  }
}

/** @returns where the records are that cannot be read, and why */
async function copyTopic(
  stack: StackEnvironment,
  topic: TopicDefinition,
  write: (records: readonly StateRecord[]) => Promise<void>,
): Promise<string[]> {
  const log = openLog(stack, topic.name);
  const leftOut: string[] = [];
  try {
    await log.codec.prepare();
    const partitions = await log.partitionCount();
    // All of it, up to its end of now.
    await log.read({ from: null, to: null, untilEnd: true }, async (batch: RecordBatch) => {
      const records: StateRecord[] = [];
      for (const record of await decodeBatch(log.codec, batch)) {
        if (topic.name === topics.deviceState.name) assertMovable(topic, record, partitions);
        if (record.problem === undefined && record.key !== null) records.push(stateRecordOf(record, log.codec));
        else leftOut.push(placeInLog({ ...record, problem: record.problem ?? 'it has no key' }));
      }
      await write(records);
    });
  } finally {
    await log.close();
  }
  return leftOut;
}

/**
 * A device whose state is left out would begin again as a new one. So would one whose pings are not where the default
 * partitioner puts them: its state would move elsewhere than its pings.
 */
function assertMovable(topic: TopicDefinition, record: DecodedRecord, partitions: number): void {
  const { key, partition, problem } = record;
  if (problem !== undefined || key === null)
    throw new CliError(`The state of a device cannot be read, and would be lost: ${placeInLog(record)}.`);
  if (partitionIn(topic, key, partitions) === partition) return;
  throw new CliError(
    `The device ${JSON.stringify(key)} is in partition ${String(partition)} of ${topic.name}, and not where Kafka's default ` +
      'partitioner puts it: its producer chooses partitions itself, or partitions were added. Its state cannot follow it.',
  );
}

/** In our own schema, so that the other registry needs no earlier one. */
function stateRecordOf(
  { topic, key, timestamp, value }: DecodedRecord,
  codec: { encode(value: unknown): Buffer },
): StateRecord {
  return { topic, key: key ?? '', timestamp, value: value === null ? null : codec.encode(value) };
}

async function assertFinished(stack: StackEnvironment): Promise<void> {
  const settings = kafkaSettings(stack);
  await assertApplicationsStopped(settings);
  const reader = await openGroupProgress(settings);
  try {
    const progress = await reader.read(allConsumerGroups);
    if (progress.some((one) => lagOf(one) > 0)) {
      throw new CliError(
        `Not everything is processed: ${describeLag(progress)}. Start the applications, stop the producers, and run ` +
          '"waypost wait --idle 10" before the applications are stopped.',
      );
    }
  } finally {
    await reader.close();
  }
  await assertNothingHeld(stack);
  await assertPublished(stack.require('DATABASE_URL'));
}

/** A replay in the outbox would find no deliveries in the new topics. */
async function assertPublished(databaseUrl: string): Promise<void> {
  const store = await openManagementStore(databaseUrl);
  try {
    const { waiting } = await store.outbox.readLag();
    if (waiting === 0) return;
    throw new CliError(
      `${String(waiting)} changes are not published yet: start public-api, which publishes them, and wait for it.`,
    );
  } finally {
    await store.close();
  }
}

/** Deliveries of suspended, paused and parked subscriptions wait outside of the lag of the group. */
async function assertNothingHeld(stack: StackEnvironment): Promise<void> {
  const held = new Set<string>();
  await readVersions<SubscriptionState>(stack, topics.subscriptionState.name, ({ key, value: state }) => {
    held[state !== null && state.parkedFrom !== null ? 'add' : 'delete'](key);
  });
  if (held.size === 0) return;
  const shown = [...held].slice(0, MOST_SHOWN).join(', ');
  const more = held.size > MOST_SHOWN ? ` and ${String(held.size - MOST_SHOWN)} more` : '';
  throw new CliError(
    `Deliveries of ${String(held.size)} suspended or paused subscriptions are unfinished, and cannot move: ${shown}${more}. ` +
      'Start the applications, and wait until they are delivered or expire; or disable these subscriptions, which ends ' +
      'their deliveries in the history.',
  );
}
