import { setTimeout as sleep } from 'node:timers/promises';
import {
  allConsumerGroups,
  consumerGroups,
  createSchemaRegistry,
  missingTopic,
  timesCount,
  type TopicDefinition,
  topics,
} from '@waypost/contracts';
import { forgetProjectedTopics } from '@waypost/history-store';
import { openGroupProgress, openRecordPublisher, type RecordPublisher } from '@waypost/platform/without-nest';
import { createKafkaBackend, openTopicAdmin, silentLogger, type StreamsBackend } from '@waypost/streams';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { MOVED_TOPICS, partitionIn } from '../state-transfer/moved-topics.js';
import { portionsOf } from '../state-transfer/portions.js';
import { countStateRecords, readStateFile, type StateRecord } from '../state-transfer/state-file.js';
import { assertApplicationsStopped } from '../state-transfer/stopped-applications.js';
import { CliError, createProgress, type Terminal, writeLine } from '../terminal/output.js';

export interface StateImportOptions {
  readonly dataDir: string;
  /** An absolute path. */
  readonly file: string;
}

/** Of no fleet, subscription or geofence. */
const PROBE_KEY = Buffer.from('state-import\u001fprobe');
const TIMES = 'message.timestamp.type';
const TRIES = 100;
const PAUSE_MS = 100;
const SCHEMA_ID_OFFSET = 1;
/** Work on them has begun once they have records: state of another moment must not be put under it. */
const UNUSED_TOPICS: readonly string[] = [
  topics.fleetEvents.name,
  topics.webhookDeliveries.name,
  topics.webhookAttempts.name,
];

/**
 * Fills new topics, with any number of partitions, with what "state export" has written. telemetry-processor
 * continues at the start of telemetry.pings, and history-projector adds to the history that is there. What was
 * interrupted can be repeated: the last step is the position of telemetry-processor.
 */
export async function importState(terminal: Terminal, { dataDir, file }: StateImportOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const settings = kafkaSettings(stack);
  const total = await countStateRecords(file);
  const backend = createKafkaBackend({ kafka: settings, logger: silentLogger, now: Date.now });
  try {
    await assertApplicationsStopped(settings);
    await assertUnused(stack, backend);
    await publishRecords(terminal, stack, backend, { file, total });
    await forgetProjectedTopics(
      stack.require('DATABASE_URL'),
      allConsumerGroups.flatMap((group) => group.topics),
    );
    await commitStart(backend);
  } finally {
    await backend.close();
  }
  await writeLine(terminal.out, `imported ${String(total)} records; start the applications, then the producers`);
}

async function assertUnused(stack: StackEnvironment, backend: StreamsBackend): Promise<void> {
  for (const topic of UNUSED_TOPICS) {
    for (const at of await partitionsOf(backend, topic)) {
      if ((await backend.endOffset(at)) > 0) throw inUse(`${topic} has records`);
    }
  }
  const reader = await openGroupProgress(kafkaSettings(stack));
  try {
    const progress = await reader.read([consumerGroups.telemetryProcessor]);
    if (progress.some(({ committedOffset }) => committedOffset !== null))
      throw inUse(`${consumerGroups.telemetryProcessor.id} has committed positions`);
  } finally {
    await reader.close();
  }
}

function inUse(what: string): CliError {
  return new CliError(
    `These topics are in use: ${what}. Import only into topics that "waypost set-up" has just created. Nothing was written.`,
  );
}

async function publishRecords(
  terminal: Terminal,
  stack: StackEnvironment,
  backend: StreamsBackend,
  { file, total }: { readonly file: string; readonly total: number },
): Promise<void> {
  const progress = createProgress(terminal, total);
  const targets = new Map<string, Target>();
  const admin = await openTopicAdmin(kafkaSettings(stack));
  let done = 0;
  try {
    for (const topic of MOVED_TOPICS) {
      const target = await openTarget(stack, backend, topic);
      targets.set(topic.name, target);
      if (!timesCount(topic)) continue;
      await admin.changeSetting(topic.name, TIMES, 'CreateTime');
      await untilTimesAreKept(target);
    }
    for await (const [topic, records] of portionsOf(readStateFile(file))) {
      await targets.get(topic)?.publish(records);
      done += records.length;
      progress.update(done, topic);
    }
  } finally {
    progress.stop();
    await Promise.all([...targets.values()].map((target) => target.close()));
    // As set-up has made them; it refuses topics where an interruption has left this out.
    for (const { name, configs } of MOVED_TOPICS.filter(timesCount))
      await admin.changeSetting(name, TIMES, configs[TIMES] ?? 'LogAppendTime');
    await admin.close();
  }
}

/** A broker learns of a changed setting a moment later. The probe is a tombstone of a key that nothing has. */
async function untilTimesAreKept(target: Target): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await target.probe()) return;
    await sleep(PAUSE_MS);
  }
  throw new CliError(
    `The broker does not keep the times of records in ${target.topic}, although ${TIMES} was changed.`,
  );
}

interface Target {
  readonly topic: string;
  /** Whether a record keeps its own time. */
  probe(): Promise<boolean>;
  publish(records: readonly StateRecord[]): Promise<void>;
  close(): Promise<void>;
}

async function openTarget(stack: StackEnvironment, backend: StreamsBackend, topic: TopicDefinition): Promise<Target> {
  const partitions = (await partitionsOf(backend, topic.name)).length;
  const schemaId = await createSchemaRegistry(registrySettings(stack)).idOf(topic.subject, topic.schema);
  if (schemaId === null)
    throw new CliError(`The registry does not have the schema of ${topic.subject}: run "waypost set-up".`);
  const publisher: RecordPublisher = await openRecordPublisher(kafkaSettings(stack), topic.name);
  return {
    topic: topic.name,
    probe: () => publisher.keepsTimeOf({ key: PROBE_KEY, value: null, timestamp: 0 }),
    publish: (records) =>
      publisher.publish(
        records.map(({ key, timestamp, value }) => {
          value?.writeUInt32BE(schemaId, SCHEMA_ID_OFFSET);
          return { partition: partitionIn(topic, key, partitions), key: Buffer.from(key), timestamp, value };
        }),
      ),
    close: () => publisher.close(),
  };
}

/** State without a position is refused by telemetry-processor, which cannot know what of the log is in it. */
async function commitStart(backend: StreamsBackend): Promise<void> {
  const groupId = consumerGroups.telemetryProcessor.id;
  const starts = (await partitionsOf(backend, topics.telemetryPings.name)).map(async (at) => ({
    ...at,
    groupId,
    offset: await backend.startOffset(at),
  }));
  const producer = backend.producer('waypost.state-import');
  try {
    await producer.init();
    await producer.commit({ records: [], offsets: await Promise.all(starts) });
  } finally {
    await producer.close();
  }
}

async function partitionsOf(backend: StreamsBackend, topic: string) {
  const count = await backend.partitionCount(topic);
  if (count === null) throw new CliError(missingTopic(topic));
  return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
}
