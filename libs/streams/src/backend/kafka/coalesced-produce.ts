import { partitionName } from '../../record.js';
import type { KafkaClient } from './kafka-client.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import { produceRequest, type PartitionBatch, type ProducedPartition } from '../../protocol/produce.js';

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
 * broker and us far more than what a small batch in it does. It may hold one batch for each partition, so writers who
 * share a partition take as many requests as they are.
 */
export const createCoalescedProduce = (client: KafkaClient): Produce => {
  const waiting = new Map<KafkajsBroker, Waiting[]>();
  const request = (leader: KafkajsBroker, together: readonly Waiting[]): void => {
    const all = together.flatMap(({ batches }) => batches);
    client.callRaw(leader, produceRequest(null, all)).then(
      (answers) => {
        for (const { batches, resolve } of together) resolve(answersTo(batches, answers));
      },
      (error: unknown) => {
        for (const { reject } of together) reject(error);
      },
    );
  };
  const send = (leader: KafkajsBroker): void => {
    const all = waiting.get(leader) ?? [];
    waiting.delete(leader);
    for (const together of withoutCollisions(all)) request(leader, together);
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

/** In as few groups as the partitions that they share allow. */
const withoutCollisions = (all: readonly Waiting[]): Waiting[][] => {
  const groups: { readonly members: Waiting[]; readonly partitions: Set<string> }[] = [];
  for (const waiting of all) {
    const names = waiting.batches.map(partitionName);
    let group = groups.find(({ partitions }) => names.every((name) => !partitions.has(name)));
    if (!group) groups.push((group = { members: [], partitions: new Set() }));
    group.members.push(waiting);
    for (const name of names) group.partitions.add(name);
  }
  return groups.map(({ members }) => members);
};

const answersTo = (batches: readonly PartitionBatch[], answers: readonly ProducedPartition[]): ProducedPartition[] =>
  answers.filter((a) => batches.some(({ topic, partition }) => topic === a.topic && partition === a.partition));
