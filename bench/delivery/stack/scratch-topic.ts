import { connectKafka } from '@waypost/streams';

/** A topic like fleet.events that nobody reads. */
export interface ScratchTopic {
  readonly name: string;
  remove(): Promise<void>;
}

export async function createScratchTopic(brokers: readonly string[], partitions: number): Promise<ScratchTopic> {
  const name = `bench.scratch-${String(Date.now())}`;
  const admin = connectKafka({ brokers, clientId: 'bench' }).admin();
  await admin.connect();
  const configEntries = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }];
  await admin.createTopics({ topics: [{ topic: name, numPartitions: partitions, configEntries }] });
  return {
    name,
    async remove() {
      await admin.deleteTopics({ topics: [name] });
      await admin.disconnect();
    },
  };
}
