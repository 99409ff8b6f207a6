import { republishedHeader } from '@waypost/contracts';
import type { PublishedRecord, RecordPublisher } from '@waypost/platform/without-nest';
import type { RejectedRecord } from './rejected-records.js';

/** Sends rejected records again, with their original key and bytes, to the partition that they came from. */
export interface Republisher {
  add(record: RejectedRecord): Promise<void>;
  /** Sends what was added and is not sent yet. */
  flush(): Promise<void>;
  /** The number of records that are surely sent. */
  count(): number;
  close(): Promise<void>;
}

const PUBLISH_CHUNK = 500;

/** @param open opens the publisher of a topic */
export function createRepublisher(open: (topic: string) => Promise<RecordPublisher>): Republisher {
  const publishers = new Map<string, Promise<RecordPublisher>>();
  let chunk: RejectedRecord[] = [];
  let count = 0;

  function publisherOf(topic: string): Promise<RecordPublisher> {
    const opened = publishers.get(topic) ?? open(topic);
    publishers.set(topic, opened);
    return opened;
  }

  async function flush(): Promise<void> {
    for (const topic of new Set(chunk.map(({ telemetry }) => telemetry.sourceTopic))) {
      const publisher = await publisherOf(topic);
      const ofTopic = chunk.filter(({ telemetry }) => telemetry.sourceTopic === topic);
      await publisher.publish(ofTopic.map(copyOf));
      count += ofTopic.length;
    }
    chunk = [];
  }

  return {
    flush,
    async add(record) {
      chunk.push(record);
      if (chunk.length >= PUBLISH_CHUNK) await flush();
    },
    count: () => count,
    async close() {
      for (const publisher of publishers.values()) await (await publisher).close();
    },
  };
}

function copyOf({ telemetry, origin }: RejectedRecord): PublishedRecord {
  const { sourcePartition: partition, sourceKey: key, sourceValue: value } = telemetry;
  const header = republishedHeader(origin);
  return { partition, key, value, headers: { [header.key]: String(header.value) } };
}
