import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { connectKafka } from '@waypost/streams';
import { createEventTemplate, deviceIdOf, type EventTemplate } from './event-template.js';
import type { Target } from './messages.js';

export interface NumberedEvent {
  readonly number: number;
  readonly target: Target;
}

/** Commits events as a producer of fleet.events would, without transactions: appended is committed. */
export interface EventWriter {
  /** Resolves with the time of the append of each event, in the given order. */
  write(events: readonly NumberedEvent[], topic: string, sentMs: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface WriterOptions {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
}

export async function openEventWriter(options: WriterOptions): Promise<EventWriter> {
  const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: options.registryUrl }) });
  await codecs.fleetEvents.prepare();
  const kafka = connectKafka({ brokers: options.brokers, clientId: 'bench-load' });
  const admin = kafka.admin();
  await admin.connect();
  const partitions = (await admin.fetchTopicOffsets(topics.fleetEvents.name)).length;
  await admin.disconnect();
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();

  const templates = new Map<Target, EventTemplate>();
  const templateOf = (target: Target): EventTemplate => {
    const known = templates.get(target) ?? createEventTemplate(codecs.fleetEvents, target);
    templates.set(target, known);
    return known;
  };

  return {
    async write(events, topic, sentMs) {
      const messages = events.map(({ number, target }) => ({
        partition: number % partitions,
        key: deviceIdOf(number),
        value: templateOf(target)(number, sentMs),
      }));
      const appended = await producer.send({ topic, acks: -1, messages });
      const times = new Map(appended.map(({ partition, logAppendTime }) => [partition, Number(logAppendTime)]));
      return messages.map(({ partition }) => times.get(partition) ?? NaN);
    },
    close: () => producer.disconnect(),
  };
}
