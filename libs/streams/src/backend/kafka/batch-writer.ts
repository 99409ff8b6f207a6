import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsError } from '../../errors.js';
import type { StreamsLogger } from '../../logger.js';
import type { RecordBuffer } from '../../protocol/record-buffer.js';
import { partitionName } from '../../record.js';
import type { BaseOffsets } from '../backend.js';
import { KAFKA_ERROR, isFenced, isLeaderMove } from './kafka-errors.js';
import { isTransient, retryTransient, type KafkaClient } from './kafka-client.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import type { Produce } from './coalesced-produce.js';
import type { PartitionBatch, ProducedPartition } from '../../protocol/produce.js';
import { sealRecordBatch } from '../../protocol/record-batch-encoder.js';
import type { ProducerId } from './transaction-coordinator.js';

export interface BatchWriterOptions {
  readonly client: KafkaClient;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly produce: Produce;
  readonly isTransactional: boolean;
  /** Bytes of one record batch; below the topic's max.message.bytes. */
  readonly maxBatchBytes: number;
  readonly retryForMs: number;
  /** Whether a batch without an answer is sent again: the broker tells a repetition by its sequence number. */
  readonly repeatsUnanswered: boolean;
}

/** Writes record batches to the leaders of their partitions, numbered in sequence, each partition's in order. */
export interface BatchWriter {
  write(outputs: readonly RecordBuffer[], identity: ProducerId): Promise<BaseOffsets>;
}

const RETRY_WAIT_MS = 50;

export const createBatchWriter = (options: BatchWriterOptions): BatchWriter => new LeaderBatchWriter(options);

class LeaderBatchWriter implements BatchWriter {
  private readonly sequences = new Map<string, number>();

  constructor(private readonly options: BatchWriterOptions) {}

  /** Rounds of one record batch a partition, so that the batches of a partition are written in order. */
  async write(outputs: readonly RecordBuffer[], identity: ProducerId): Promise<BaseOffsets> {
    const baseOffsets = new Map<string, number>();
    const rounds = Math.max(0, ...outputs.map(({ batches }) => batches.length));
    for (let round = 0; round < rounds; round++) {
      const batches = outputs.flatMap((output) => this.encodeRound(output, round, identity));
      for (const { topic, partition, baseOffset } of await this.produce(batches)) {
        const name = partitionName({ topic, partition });
        if (!baseOffsets.has(name)) baseOffsets.set(name, baseOffset);
      }
    }
    return baseOffsets;
  }

  private encodeRound(output: RecordBuffer, round: number, identity: ProducerId): PartitionBatch[] {
    const records = output.batches[round];
    if (!records) return [];
    const { topic, partition } = output;
    const { now, maxBatchBytes, isTransactional } = this.options;
    const name = partitionName(output);
    const baseSequence = this.sequences.get(name) ?? 0;
    this.sequences.set(name, (baseSequence + records.count) % 2_147_483_648);
    const writer = { ...identity, baseSequence, isTransactional };
    return [{ topic, partition, batch: sealRecordBatch(records, now(), writer, maxBatchBytes) }];
  }

  private async produce(batches: readonly PartitionBatch[]): Promise<ProducedPartition[]> {
    let pending = batches;
    const done: ProducedPartition[] = [];
    const deadline = this.options.now() + this.options.retryForMs;
    while (pending.length > 0) {
      const answers = await this.answers(pending, deadline);
      done.push(...answers.filter(({ errorCode }) => errorCode === KAFKA_ERROR.none));
      pending = await this.unwritten(pending, answers, deadline);
    }
    return done;
  }

  /** Of those that were answered. */
  private async answers(batches: readonly PartitionBatch[], deadline: number): Promise<ProducedPartition[]> {
    const byLeader = await this.byLeader(batches);
    const { produce, repeatsUnanswered, now } = this.options;
    const answers = await Promise.all(
      [...byLeader].map(([leader, list]) =>
        produce(leader, list).catch((error: unknown) => {
          if (repeatsUnanswered && isTransient(error) && now() < deadline) return [];
          throw error;
        }),
      ),
    );
    return answers.flat();
  }

  private async byLeader(batches: readonly PartitionBatch[]): Promise<Map<KafkajsBroker, PartitionBatch[]>> {
    const { client, logger, now, retryForMs } = this.options;
    const byLeader = new Map<KafkajsBroker, PartitionBatch[]>();
    for (const batch of batches) {
      const leader =
        client.connectedLeader(batch.topic, batch.partition) ??
        (await retryTransient(() => client.leader(batch.topic, batch.partition), {
          what: 'find leader',
          logger,
          now,
          forMs: retryForMs,
        }));
      const list = byLeader.get(leader);
      if (list) list.push(batch);
      else byLeader.set(leader, [batch]);
    }
    return byLeader;
  }

  /** Only what was surely not appended, or may be sent again, is repeated; anything else ends this producer. */
  private async unwritten(
    batches: readonly PartitionBatch[],
    answers: readonly ProducedPartition[],
    deadline: number,
  ): Promise<PartitionBatch[]> {
    const errors = answers.filter(({ errorCode }) => errorCode !== KAFKA_ERROR.none);
    const written = answers.length - errors.length;
    if (written === batches.length) return [];
    const fatal = errors.find(({ errorCode }) => !this.isRepeated(errorCode));
    if (fatal) throw produceError(fatal);
    const [refused] = errors;
    if (this.options.now() > deadline && refused) throw produceError(refused);
    await sleep(RETRY_WAIT_MS);
    await this.options.client.refreshMetadata().catch((error: unknown) => {
      if (!this.options.repeatsUnanswered) throw error;
    });
    const done = answers.filter(({ errorCode }) => errorCode === KAFKA_ERROR.none);
    return batches.filter((b) => !done.some((d) => d.topic === b.topic && d.partition === b.partition));
  }

  private isRepeated(errorCode: number): boolean {
    if (isLeaderMove(errorCode) || errorCode === KAFKA_ERROR.notEnoughReplicas) return true;
    // Appended, but not by all replicas in time: like an answer that never came.
    const unsure = errorCode === KAFKA_ERROR.requestTimedOut || errorCode === KAFKA_ERROR.notEnoughReplicasAfterAppend;
    return this.options.repeatsUnanswered && unsure;
  }
}

const produceError = ({ topic, partition, errorCode }: ProducedPartition): Error =>
  isFenced(errorCode)
    ? new StreamsError('PRODUCER_FENCED', 'The broker refused a record of an older producer.')
    : new StreamsError(
        'PROTOCOL',
        `Writing to ${partitionName({ topic, partition })} was refused with code ${String(errorCode)}.`,
      );
