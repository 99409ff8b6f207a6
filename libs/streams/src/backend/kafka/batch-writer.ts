import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamsLogger } from '../../logger.js';
import { type PartitionBatch, type ProducedPartition, produceRequest } from '../../protocol/produce.js';
import { type ProducerId, sealRecordBatch } from '../../protocol/record-batch-encoder.js';
import { MAX_BATCH_BYTES, type RecordBuffer } from '../../protocol/record-collector.js';
import { partitionName } from '../../record.js';
import type { BaseOffsets } from '../backend.js';
import { isTransient, type KafkaClient, retryTransient } from './kafka-client.js';
import { isRepeatable, isUndone, NO_ERROR, refusal } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

export interface BatchWriterOptions {
  readonly client: KafkaClient;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly produce: Produce;
  /**
   * Outside a transaction, a batch without a response is sent again: the broker detects duplicates by their sequence
   * numbers. A transaction is given up.
   */
  readonly isTransactional: boolean;
  readonly retryForMs: number;
}

const RETRY_WAIT_MS = 50;

/** Writes record batches to the leaders of their partitions, with sequence numbers, in order per partition. */
export class BatchWriter {
  private readonly sequences = new Map<string, number>();

  constructor(private readonly options: BatchWriterOptions) {}

  /** Writes one record batch per partition and round, so that the batches of a partition stay in order. */
  async write(outputs: readonly RecordBuffer[], identity: ProducerId): Promise<BaseOffsets> {
    const baseOffsets = new Map<string, number>();
    const rounds = Math.max(0, ...outputs.map(({ batches }) => batches.length));
    for (let round = 0; round < rounds; round++) {
      const batches = outputs.flatMap((output) => this.encodeRound(output, round, identity));
      for (const produced of await this.produce(batches)) {
        const name = partitionName(produced);
        if (!baseOffsets.has(name)) baseOffsets.set(name, produced.baseOffset);
      }
    }
    return baseOffsets;
  }

  private encodeRound(output: RecordBuffer, round: number, identity: ProducerId): PartitionBatch[] {
    const records = output.batches[round];
    if (!records) return [];
    const { topic, partition } = output;
    const { now, isTransactional } = this.options;
    const name = partitionName(output);
    const baseSequence = this.sequences.get(name) ?? 0;
    this.sequences.set(name, (baseSequence + records.count) % 2_147_483_648);
    const writer = { ...identity, baseSequence, isTransactional };
    return [{ topic, partition, batch: sealRecordBatch(records, now(), writer, MAX_BATCH_BYTES) }];
  }

  private async produce(batches: readonly PartitionBatch[]): Promise<ProducedPartition[]> {
    let pending = batches;
    const done: ProducedPartition[] = [];
    const deadline = this.options.monotonicNow() + this.options.retryForMs;
    while (pending.length > 0) {
      const answers = await this.answers(pending, deadline);
      done.push(...answers.filter(({ errorCode }) => errorCode === NO_ERROR));
      pending = await this.unwritten(pending, answers, deadline);
    }
    return done;
  }

  private async answers(batches: readonly PartitionBatch[], deadline: number): Promise<ProducedPartition[]> {
    const byLeader = await this.byLeader(batches);
    const { produce, isTransactional, monotonicNow } = this.options;
    const answers = await Promise.all(
      [...byLeader].map(([leader, list]) =>
        produce(leader, list).catch((error: unknown) => {
          if (!isTransactional && isTransient(error) && monotonicNow() < deadline) return [];
          throw error;
        }),
      ),
    );
    return answers.flat();
  }

  private async byLeader(batches: readonly PartitionBatch[]): Promise<Map<KafkajsBroker, PartitionBatch[]>> {
    const { client, logger, monotonicNow, retryForMs } = this.options;
    const byLeader = new Map<KafkajsBroker, PartitionBatch[]>();
    for (const batch of batches) {
      const leader =
        client.connectedLeader(batch.topic, batch.partition) ??
        (await retryTransient(() => client.leader(batch.topic, batch.partition), {
          what: `Leader of ${batch.topic}-${String(batch.partition)}`,
          logger,
          monotonicNow,
          forMs: retryForMs,
        }));
      const list = byLeader.get(leader);
      if (list) list.push(batch);
      else byLeader.set(leader, [batch]);
    }
    return byLeader;
  }

  /** Resends only batches that were not appended for certain or are safe to repeat. Other errors end this producer. */
  private async unwritten(
    batches: readonly PartitionBatch[],
    answers: readonly ProducedPartition[],
    deadline: number,
  ): Promise<PartitionBatch[]> {
    const errors = answers.filter(({ errorCode }) => errorCode !== NO_ERROR);
    const written = answers.length - errors.length;
    if (written === batches.length) return [];
    const fatal = errors.find(({ errorCode }) => !this.isRepeated(errorCode));
    if (fatal) throw writeError(fatal);
    const [refused] = errors;
    if (this.options.monotonicNow() > deadline && refused) throw writeError(refused);
    await sleep(RETRY_WAIT_MS);
    await this.options.client.refreshMetadata().catch((error: unknown) => {
      if (this.options.isTransactional) throw error;
    });
    const done = answers.filter(({ errorCode }) => errorCode === NO_ERROR);
    return batches.filter((b) => !done.some((d) => d.topic === b.topic && d.partition === b.partition));
  }

  private isRepeated(errorCode: number): boolean {
    return this.options.isTransactional ? isUndone(errorCode) : isRepeatable(errorCode);
  }
}

function writeError(refused: ProducedPartition): Error {
  return refusal(`Writing to ${partitionName(refused)}`, refused.errorCode);
}

/** Sends batches to a leader; returns the results of these batches, in any order. */
export type Produce = (leader: KafkajsBroker, batches: readonly PartitionBatch[]) => Promise<ProducedPartition[]>;

/** Sends one request per call, as a transaction needs. */
export function createTransactionalProduce(client: KafkaClient, transactionalId: string): Produce {
  return (leader, batches) => client.callRaw(leader, produceRequest(transactionalId, batches));
}

interface Waiting {
  readonly batches: readonly PartitionBatch[];
  readonly resolve: (answers: ProducedPartition[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends one request for all batches that different writers have for a leader in the same tick: a request costs the
 * broker and this process far more than a small batch in it. A request holds one batch per partition, so writers that
 * share a partition need as many requests.
 */
export function createCoalescedProduce(client: Pick<KafkaClient, 'callRaw'>): Produce {
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
}

function withoutCollisions(all: readonly Waiting[]): Waiting[][] {
  const groups: { readonly members: Waiting[]; readonly partitions: Set<string> }[] = [];
  for (const waiting of all) {
    const names = waiting.batches.map(partitionName);
    let group = groups.find(({ partitions }) => names.every((name) => !partitions.has(name)));
    if (!group) groups.push((group = { members: [], partitions: new Set() }));
    group.members.push(waiting);
    for (const name of names) group.partitions.add(name);
  }
  return groups.map(({ members }) => members);
}

function answersTo(batches: readonly PartitionBatch[], answers: readonly ProducedPartition[]): ProducedPartition[] {
  return answers.filter((a) => batches.some(({ topic, partition }) => topic === a.topic && partition === a.partition));
}
