import { brokerError, partitionsByTopic } from '../../protocol/bytes.js';
import { partitionName, type TopicPartition } from '../../record.js';
import type { KafkaClient } from './kafka-client.js';
import { NO_ERROR } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

export const [LATEST, EARLIEST] = [-1, -2];

interface Lookup {
  readonly partition: TopicPartition;
  readonly resolve: (offset: number | null) => void;
  readonly reject: (error: unknown) => void;
}

interface ListedOffsets {
  readonly responses: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number; readonly offset: string }[];
  }[];
}

/**
 * Finds offsets by time, with one request at a time for each leader and time. Lookups that arrive in the meantime need a
 * later answer and share the next request, whichever partition they are for.
 */
export class OffsetLookups {
  /** Lookups by leader and time; an entry exists while a request is in flight. */
  private readonly queues = new Map<string, Lookup[]>();

  constructor(private readonly client: KafkaClient) {}

  /** @returns null: the partition has no such offset */
  async find(partition: TopicPartition, timestamp: number): Promise<number | null> {
    const leader = await this.client.leader(partition.topic, partition.partition);
    return new Promise((resolve, reject) => {
      const name = `${String(leader.nodeId)} ${String(timestamp)}`;
      const lookup = { partition, resolve, reject };
      const queue = this.queues.get(name);
      if (queue) {
        queue.push(lookup);
        return;
      }
      this.queues.set(name, [lookup]);
      setImmediate(() => void this.run(name, leader, timestamp));
    });
  }

  private async run(name: string, leader: KafkajsBroker, timestamp: number): Promise<void> {
    for (;;) {
      const lookups = this.queues.get(name) ?? [];
      if (lookups.length === 0) break;
      this.queues.set(name, []);
      await this.ask(leader, timestamp, lookups).catch((error: unknown) => {
        for (const { reject } of lookups) reject(error);
      });
    }
    this.queues.delete(name);
  }

  private async ask(leader: KafkajsBroker, timestamp: number, lookups: readonly Lookup[]): Promise<void> {
    const asked = new Map(lookups.map(({ partition }) => [partitionName(partition), partition]));
    const topics = partitionsByTopic(asked.values(), ({ partition }) => ({ partition, timestamp }));
    const parameters = { replicaId: -1, isolationLevel: 0, topics };
    const { responses } = await this.client.ask<ListedOffsets>(leader, 'ListOffsets', 3, parameters);
    const found = new Map(
      responses.flatMap(({ topic, partitions }) =>
        partitions.map((one) => [partitionName({ ...one, topic }), one] as const),
      ),
    );
    for (const { partition, resolve, reject } of lookups) {
      const { errorCode = NO_ERROR, offset = '-1' } = found.get(partitionName(partition)) ?? {};
      if (errorCode === NO_ERROR) resolve(Number(offset) < 0 ? null : Number(offset));
      // A refused partition fails no other.
      else reject(brokerError(errorCode));
    }
  }
}
