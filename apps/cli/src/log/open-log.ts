import {
  createAvroCodecs,
  createSchemaRegistry,
  topicNamed,
  allTopics,
  type SubjectCodec,
  type TopicDefinition,
} from '@waypost/contracts';
import { createKafkaBackend, silentLogger, type RecordBatch } from '@waypost/streams';
import type { AvroRecord } from '@waypost/contracts';
import { CliError, usageError } from '../cli-error.js';
import { kafkaSettings } from '../stack/kafka-settings.js';
import { registrySettings } from '../stack/registry-settings.js';
import type { StackEnvironment } from '../stack/stack-config.js';
import { readLogRange, type LogRange } from './log-range.js';

/** A topic of the stack, ready to be read. */
export interface OpenLog {
  readonly codec: SubjectCodec<unknown>;
  /** Ours, which values are read into. */
  readonly schema: AvroRecord;
  read(range: LogRange, take: (batch: RecordBatch) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export function openLog(stack: StackEnvironment, topicName: string): OpenLog {
  const topic = knownTopic(topicName);
  const registry = createSchemaRegistry(registrySettings(stack));
  const codec = Object.values(createAvroCodecs({ registry })).find((one) => one.subject === topic.subject);
  if (codec === undefined) throw new Error(`Topic ${topicName} has no codec`);
  const backend = createKafkaBackend({ kafka: kafkaSettings(stack), logger: silentLogger, now: Date.now });
  return {
    codec,
    schema: topic.schema as AvroRecord,
    async read(range, take) {
      const partitions = await backend.partitionCount(topic.name);
      if (partitions === null) throw new CliError(`Topic ${topic.name} is not there: run "set-up" first.`);
      await readLogRange(backend, topic, partitions, range, take);
    },
    close: () => backend.close(),
  };
}

function knownTopic(name: string): TopicDefinition {
  const topic = topicNamed(name);
  if (topic !== undefined) return topic;
  throw usageError(`There is no topic ${name}. There are: ${allTopics.map((one) => one.name).join(', ')}.`);
}
