import { refusal } from '../../backend/kafka/kafka-errors.js';
import type { RecordBatch } from '../../record.js';
import type { createMemoryBackend } from '../../testing/memory-backend.js';

type Backend = ReturnType<typeof createMemoryBackend>;

/** Changes what is fetched of the topic "input". */
export function changeFetched(broker: Backend, change: (batch: RecordBatch) => RecordBatch): void {
  const open = broker.fetcher.bind(broker);
  broker.fetcher = () => {
    const fetcher = open();
    return {
      close: () => fetcher.close(),
      open: (partition, position) => {
        const feed = fetcher.open(partition, position);
        return partition.topic === 'input' ? { ...feed, next: async () => change(await feed.next()) } : feed;
      },
    };
  };
}

/** As a broker does that refuses the value "refused", with the error of its code. */
export function refuseWrites(broker: Backend, kafkaCode: number): void {
  const open = broker.producer.bind(broker);
  broker.producer = (transactionalId) => {
    const producer = open(transactionalId);
    return {
      init: () => producer.init(),
      close: () => producer.close(),
      commit: (transaction) => {
        const isRefused = [...transaction.records].some(({ value }) => String(value) === 'refused');
        return isRefused ? Promise.reject(refusal('Writing to output', kafkaCode)) : producer.commit(transaction);
      },
    };
  };
}
