import type { KafkaClient } from './kafka-client.js';
import type { KafkajsBroker } from './kafkajs-types.js';
import { produceRequest, type PartitionBatch, type ProducedPartition } from './protocol/produce.js';

/** Sends batches to a leader; the answers are those of these batches, in any order. */
export type Produce = (leader: KafkajsBroker, batches: readonly PartitionBatch[]) => Promise<ProducedPartition[]>;

/** One request for each call, as a transaction needs it. */
export const createTransactionalProduce =
  (client: KafkaClient, transactionalId: string): Produce =>
  (leader, batches) =>
    client.callRaw(leader, produceRequest(transactionalId, batches));

interface Waiting {
  readonly batches: readonly PartitionBatch[];
  readonly resolve: (answers: ProducedPartition[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One request for all that different writers send to a leader in the same turn of the event loop: a request costs the
 * broker and us far more than what a small batch in it does. Writers have partitions of their own, so no two batches of
 * a request are for the same one.
 */
export const createProduceTogether = (client: KafkaClient): Produce => {
  const waiting = new Map<KafkajsBroker, Waiting[]>();
  const send = (leader: KafkajsBroker): void => {
    const together = waiting.get(leader) ?? [];
    waiting.delete(leader);
    client
      .callRaw(
        leader,
        produceRequest(
          null,
          together.flatMap(({ batches }) => batches),
        ),
      )
      .then(
        (answers) => {
          for (const { batches, resolve } of together) resolve(answersTo(batches, answers));
        },
        (error: unknown) => {
          for (const { reject } of together) reject(error);
        },
      );
  };
  return (leader, batches) =>
    new Promise((resolve, reject) => {
      const together = waiting.get(leader);
      const own = { batches, resolve, reject };
      if (together) {
        together.push(own);
        return;
      }
      waiting.set(leader, [own]);
      setImmediate(send, leader);
    });
};

const answersTo = (batches: readonly PartitionBatch[], answers: readonly ProducedPartition[]): ProducedPartition[] =>
  answers.filter((a) => batches.some(({ topic, partition }) => topic === a.topic && partition === a.partition));
