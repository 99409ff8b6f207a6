import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsError, errorMessage } from '../../errors.js';
import type { StreamsLogger } from '../../logger.js';
import type { RecordBuffer } from '../../output/record-buffer.js';
import { RecordBuffers } from '../../output/record-buffers.js';
import { partitionName } from '../../record.js';
import type { BaseOffsets, Transaction, TransactionOffset, TransactionalProducer } from '../backend.js';
import {
  KAFKA_ERROR,
  isConnectionFailure,
  isCoordinatorMove,
  isFenced,
  isLeaderMove,
  kafkaErrorCode,
} from './kafka-errors.js';
import { retryTransient, type CoordinatorType, type KafkaClient } from './kafka-client.js';
import type { KafkajsBroker } from './kafkajs-types.js';
import { produceRequest, type PartitionBatch, type ProducedPartition } from './protocol/produce.js';
import { sealRecordBatch } from './protocol/record-batch-encoder.js';
import { createTransactionStateMachine } from './transaction-state.js';

export interface ProducerOptions {
  readonly transactionalId: string;
  readonly client: KafkaClient;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** An open transaction of a dead process blocks readers until its successor fences it, or this long. */
  readonly transactionTimeoutMs: number;
  /** Bytes of one record batch; below the topic's max.message.bytes. */
  readonly maxBatchBytes: number;
}

const CONCURRENT_FIRST_WAIT_MS = 2;
const CONCURRENT_MAX_WAIT_MS = 50;
const RETRY_FOR_MS = 15_000;

/**
 * Transactions over kafkajs's connections. One commit is at most four steps: add partitions and offsets to the
 * transaction, write the records and the offsets, end it. Coordinators are looked up once; CONCURRENT_TRANSACTIONS,
 * which answers nearly every transaction that follows another at once, is waited out in milliseconds.
 */
export const createKafkaProducer = (options: ProducerOptions): TransactionalProducer => new KafkaProducer(options);

class KafkaProducer implements TransactionalProducer {
  private readonly machine;
  private producerId = -1;
  private producerEpoch = -1;
  private readonly sequences = new Map<string, number>();

  constructor(private readonly options: ProducerOptions) {
    this.machine = createTransactionStateMachine(options.transactionalId);
  }

  async init(): Promise<void> {
    this.machine.moveTo('initialising');
    await this.orDie(async () => {
      const answer = await this.txn<{ producerId: string; producerEpoch: number }>('InitProducerId', {
        transactionTimeout: this.options.transactionTimeoutMs,
      });
      this.producerId = Number(answer.producerId);
      this.producerEpoch = answer.producerEpoch;
      this.machine.moveTo('idle');
    });
  }

  async commit({ records, offset }: Transaction): Promise<BaseOffsets> {
    this.machine.moveTo('open');
    return this.orDie(async () => {
      const buffers =
        records instanceof RecordBuffers ? records : RecordBuffers.of(records, this.options.maxBatchBytes);
      const outputs = buffers.filled();
      await this.openTransaction(outputs, offset);
      const [baseOffsets] = await Promise.all([this.write(outputs), offset && this.writeOffset(offset)]);
      this.machine.moveTo('committing');
      await this.txn('EndTxn', { ...this.identity(), transactionResult: true });
      this.machine.moveTo('idle');
      return baseOffsets;
    });
  }

  async close(): Promise<void> {
    if (this.machine.state !== 'closed') this.machine.moveTo('closed');
    await this.options.client.close();
  }

  private async orDie<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const fenced =
        isFenced(kafkaErrorCode(error)) || (error instanceof StreamsError && error.code === 'PRODUCER_FENCED');
      if (this.machine.state !== 'closed') this.machine.moveTo(fenced ? 'fenced' : 'failed');
      const { transactionalId } = this.options;
      throw new StreamsError(
        fenced ? 'PRODUCER_FENCED' : 'PRODUCER_FAILED',
        fenced
          ? `Another producer has taken over ${transactionalId}.`
          : `The producer ${transactionalId} failed and is of no further use: ${errorMessage(error)}`,
        { cause: error },
      );
    }
  }

  private identity(): { producerId: number; producerEpoch: number } {
    return { producerId: this.producerId, producerEpoch: this.producerEpoch };
  }

  private async openTransaction(
    outputs: readonly RecordBuffer[],
    offset: TransactionOffset | undefined,
  ): Promise<void> {
    const topics = new Map<string, number[]>();
    for (const { topic, partition } of outputs) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
    const added =
      outputs.length > 0 &&
      this.txn('AddPartitionsToTxn', {
        ...this.identity(),
        topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })),
      });
    const offsetsAdded = offset && this.txn('AddOffsetsToTxn', { ...this.identity(), groupId: offset.groupId });
    await Promise.all([added, offsetsAdded]);
  }

  /** Rounds of one record batch a partition, so that the batches of a partition are written in order. */
  private async write(outputs: readonly RecordBuffer[]): Promise<Map<string, number>> {
    const baseOffsets = new Map<string, number>();
    const rounds = Math.max(0, ...outputs.map(({ batches }) => batches.length));
    for (let round = 0; round < rounds; round++) {
      const batches = outputs.flatMap((output) => this.encodeRound(output, round));
      for (const { topic, partition, baseOffset } of await this.produce(batches)) {
        const name = partitionName({ topic, partition });
        if (!baseOffsets.has(name)) baseOffsets.set(name, baseOffset);
      }
    }
    return baseOffsets;
  }

  private encodeRound(output: RecordBuffer, round: number): PartitionBatch[] {
    const records = output.batches[round];
    if (!records) return [];
    const { topic, partition } = output;
    const { now, maxBatchBytes } = this.options;
    const name = partitionName(output);
    const baseSequence = this.sequences.get(name) ?? 0;
    this.sequences.set(name, (baseSequence + records.count) % 2_147_483_648);
    const batch = sealRecordBatch(records, now(), { ...this.identity(), baseSequence }, maxBatchBytes);
    return [{ topic, partition, batch }];
  }

  private async produce(batches: readonly PartitionBatch[]): Promise<ProducedPartition[]> {
    let pending = batches;
    const done: ProducedPartition[] = [];
    const deadline = this.options.now() + RETRY_FOR_MS;
    while (pending.length > 0) {
      const answers = await this.produceOnce(pending);
      done.push(...answers.filter(({ errorCode }) => errorCode === KAFKA_ERROR.none));
      pending = await this.refused(pending, answers, deadline);
    }
    return done;
  }

  private async produceOnce(batches: readonly PartitionBatch[]): Promise<ProducedPartition[]> {
    const byLeader = new Map<KafkajsBroker, PartitionBatch[]>();
    for (const batch of batches) {
      const leader = await retryTransient(() => this.options.client.leader(batch.topic, batch.partition), {
        what: 'find leader',
        logger: this.options.logger,
        now: this.options.now,
        forMs: RETRY_FOR_MS,
      });
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), batch]);
    }
    const { client, transactionalId } = this.options;
    const answers = await Promise.all(
      [...byLeader].map(([leader, list]) => client.callRaw(leader, produceRequest(transactionalId, list))),
    );
    return answers.flat();
  }

  /** Only refusals that prove the batch was not appended are repeated; anything else ends this producer. */
  private async refused(
    batches: readonly PartitionBatch[],
    answers: readonly ProducedPartition[],
    deadline: number,
  ): Promise<PartitionBatch[]> {
    const errors = answers.filter(({ errorCode }) => errorCode !== KAFKA_ERROR.none);
    if (errors.length === 0) return [];
    const fatal = errors.find(
      ({ errorCode }) => !isLeaderMove(errorCode) && errorCode !== KAFKA_ERROR.notEnoughReplicas,
    );
    if (fatal || this.options.now() > deadline) throw produceError(fatal ?? (errors[0] as ProducedPartition));
    await sleep(CONCURRENT_MAX_WAIT_MS);
    await this.options.client.refreshMetadata();
    return batches.filter((b) => errors.some((e) => e.topic === b.topic && e.partition === b.partition));
  }

  private async writeOffset(offset: TransactionOffset): Promise<void> {
    const { groupId, topic, partition, metadata } = offset;
    await this.atCoordinator('group', groupId, 'TxnOffsetCommit', {
      ...this.identity(),
      groupId,
      topics: [{ topic, partitions: [{ partition, offset: offset.offset, metadata: metadata ?? '' }] }],
    });
  }

  private txn<T>(api: string, parameters: object): Promise<T> {
    return this.atCoordinator<T>('transaction', this.options.transactionalId, api, parameters);
  }

  /** Retries what proves that nothing was done: a coordinator that moved, or a predecessor's transaction still ending. */
  private async atCoordinator<T>(type: CoordinatorType, key: string, api: string, parameters: object): Promise<T> {
    const { client, transactionalId, now } = this.options;
    const deadline = now() + RETRY_FOR_MS;
    let waitMs = CONCURRENT_FIRST_WAIT_MS;
    for (;;) {
      try {
        const broker = await client.coordinator(type, key);
        return await client.call<T>(broker, api, 1, { transactionalId, ...parameters });
      } catch (error) {
        const code = kafkaErrorCode(error);
        const moved = isCoordinatorMove(code) || (isConnectionFailure(error) && api === 'InitProducerId');
        if (moved) client.forgetCoordinator(type, key);
        if ((!moved && code !== KAFKA_ERROR.concurrentTransactions) || now() > deadline) throw error;
        await sleep(waitMs);
        waitMs = Math.min(waitMs * 2, CONCURRENT_MAX_WAIT_MS);
      }
    }
  }
}

const produceError = ({ topic, partition, errorCode }: ProducedPartition): Error =>
  isFenced(errorCode)
    ? new StreamsError('PRODUCER_FENCED', 'The broker refused a record of an older producer.')
    : new StreamsError(
        'PROTOCOL',
        `Writing to ${partitionName({ topic, partition })} was refused with code ${String(errorCode)}.`,
      );
