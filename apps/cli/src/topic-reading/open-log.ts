import {
  allTopics,
  type AvroRecord,
  createAvroCodecs,
  createSchemaRegistry,
  missingTopic,
  type SubjectCodec,
  type TopicDefinition,
  topicNamed,
} from '@waypost/contracts';
import { createKafkaBackend, type RecordBatch, silentLogger } from '@waypost/streams';
import type { StackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, usageError } from '../terminal/output.js';
import type { DecodedRecord } from './decode-batch.js';
import { type LogRange, readKeptSince, readLogRange } from './log-range.js';

/** A topic of the stack, ready to be read. */
export interface OpenLog {
  readonly codec: SubjectCodec<unknown>;
  /** Ours, which values are read into. */
  readonly schema: AvroRecord;
  /** @throws {CliError} when the topic does not exist */
  partitionCount(): Promise<number>;
  read(range: LogRange, take: (batch: RecordBatch) => Promise<void>): Promise<void>;
  /** By partition: since when it has all of its records, epoch milliseconds. */
  keptSince(): Promise<readonly number[]>;
  close(): Promise<void>;
}

export function openLog(stack: StackEnvironment, topicName: string): OpenLog {
  const topic = knownTopic(topicName);
  const registry = createSchemaRegistry(registrySettings(stack));
  const codec = Object.values(createAvroCodecs({ registry })).find((one) => one.subject === topic.subject);
  if (codec === undefined) throw new Error(`Topic ${topicName} has no codec`);
  const backend = createKafkaBackend({ kafka: kafkaSettings(stack), logger: silentLogger, now: Date.now });
  async function partitionCount(): Promise<number> {
    const partitions = await backend.partitionCount(topic.name);
    if (partitions === null) throw new CliError(missingTopic(topic.name));
    return partitions;
  }
  return {
    codec,
    partitionCount,
    schema: topic.schema as AvroRecord,
    async read(range, take) {
      await readLogRange(backend, topic, await partitionCount(), range, take);
    },
    async keptSince() {
      return readKeptSince(backend, { topic: topic.name, partitions: await partitionCount(), nowMs: Date.now() });
    },
    close: () => backend.close(),
  };
}

function knownTopic(name: string): TopicDefinition {
  const topic = topicNamed(name);
  if (topic !== undefined) return topic;
  throw usageError(`There is no topic ${name}. There are: ${allTopics.map((one) => one.name).join(', ')}.`);
}

export interface RecordFilter {
  /** Epoch ms, inclusive. */
  readonly from: number | null;
  /** Epoch ms, exclusive. */
  readonly to: number | null;
  /** The device of the value, or the key where the value names none. */
  readonly device: string | null;
  /** The value's eventType. */
  readonly type: string | null;
}

export function matches(record: DecodedRecord, { from, to, device, type }: RecordFilter): boolean {
  if (from !== null && record.timestamp < from) return false;
  if (to !== null && record.timestamp >= to) return false;
  if (device !== null && (textField(record.value, 'deviceId') ?? record.key) !== device) return false;
  return type === null || textField(record.value, 'eventType') === type;
}

function textField(value: unknown, name: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return typeof found === 'string' ? found : null;
}
