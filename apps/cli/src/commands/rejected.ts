import { topics } from '@waypost/contracts';
import type { RejectedTelemetry } from '@waypost/domain';
import { openRecordPublisher, type PublishedRecord, type RecordPublisher } from '@waypost/platform/without-nest';
import { isWanted, rejectedIdOf, type RejectedSelection } from '../rejected-selection.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';
import { decodeBatch, type DecodedRecord } from '../topic-reading/decode-batch.js';
import { openLog } from '../topic-reading/open-log.js';

export interface RejectedOptions {
  readonly dataDir: string;
  readonly selection: RejectedSelection;
}

interface RejectedRecord {
  readonly id: string;
  readonly rejectedAt: number;
  readonly telemetry: RejectedTelemetry;
}

const PUBLISH_CHUNK = 500;

/** Prints the quarantined records, one JSON line each. */
export async function listRejected(terminal: Terminal, { dataDir, selection }: RejectedOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  await eachRejected(stack, selection, ({ id, rejectedAt, telemetry }) => {
    const { sourceKey, sourceValue, ...rest } = telemetry;
    const key = sourceKey?.toString('utf8') ?? null;
    return writeLine(terminal.out, JSON.stringify({ id, rejectedAt, ...rest, key, valueBase64: base64(sourceValue) }));
  });
}

/** Sends quarantined records again, with their original key and bytes, to the partition that they came from. */
export async function republishRejected(terminal: Terminal, { dataDir, selection }: RejectedOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const publishers = new Map<string, Promise<RecordPublisher>>();
  const missing = new Set(selection.ids);
  let chunk: (PublishedRecord & { readonly topic: string })[] = [];
  let count = 0;

  function publisherOf(topic: string): Promise<RecordPublisher> {
    const opened = publishers.get(topic) ?? openRecordPublisher(kafkaSettings(stack), topic);
    publishers.set(topic, opened);
    return opened;
  }

  async function flush(): Promise<void> {
    for (const topic of new Set(chunk.map((record) => record.topic))) {
      const publisher = await publisherOf(topic);
      await publisher.publish(chunk.filter((record) => record.topic === topic));
    }
    count += chunk.length;
    chunk = [];
  }

  try {
    await eachRejected(stack, selection, async ({ id, telemetry }) => {
      missing.delete(id);
      const { sourceTopic: topic, sourcePartition: partition, sourceKey: key, sourceValue: value } = telemetry;
      // A corrupt batch that was skipped: it has no bytes to send.
      if (key === null && value === null) return;
      chunk.push({ topic, partition, key, value });
      if (chunk.length >= PUBLISH_CHUNK) await flush();
    });
    await flush();
  } finally {
    for (const publisher of publishers.values()) await (await publisher).close();
  }
  await writeLine(terminal.out, `republished ${String(count)}`);
  if (missing.size > 0) throw new CliError(`Not found: ${[...missing].join(', ')}. "rejected list" prints the ids.`);
}

async function eachRejected(
  stack: StackEnvironment,
  selection: RejectedSelection,
  take: (record: RejectedRecord) => Promise<void>,
): Promise<void> {
  const log = openLog(stack, topics.telemetryRejected.name);
  const seen = new Set<string>();
  try {
    await log.read({ from: selection.from, to: selection.to, untilEnd: true }, async (batch) => {
      for (const record of await decodeBatch(log.codec, batch)) {
        const rejected = rejectedRecordOf(record);
        // After a crash its reader may have rejected a record again.
        const isRepeated = seen.size === seen.add(sourceOf(rejected.telemetry)).size;
        if (!isRepeated && isWanted(rejected, selection)) await take(rejected);
      }
    });
  } finally {
    await log.close();
  }
}

function sourceOf({
  sourceTopic,
  sourcePartition,
  sourceOffset,
  sourceTimestamp,
  sourceKey,
}: RejectedTelemetry): string {
  return JSON.stringify([sourceTopic, sourcePartition, sourceOffset, sourceTimestamp, sourceKey?.toString('base64')]);
}

/** Only Waypost writes this topic: a value that is not its schema's is a fault worth stopping for. */
function rejectedRecordOf(record: DecodedRecord): RejectedRecord {
  const id = rejectedIdOf(record);
  if (record.problem !== undefined) throw new CliError(`Record ${id} of ${record.topic} is ${record.problem}.`);
  return { id, rejectedAt: record.timestamp, telemetry: record.value as RejectedTelemetry };
}

function base64(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('base64');
}
