import { setImmediate as endOfTick, setTimeout as sleep } from 'node:timers/promises';
import type { StreamsLogger } from '../../logger.js';
import { type PartitionBatch, type ProducedPartition, produceRequest } from '../../protocol/produce.js';
import { type ProducerId, sealRecordBatch } from '../../protocol/record-batch-encoder.js';
import { MAX_BATCH_BYTES, type RecordBuffer } from '../../protocol/record-collector.js';
import { partitionName } from '../../record.js';
import type { BaseOffsets } from '../backend.js';
import { isTransient, type KafkaClient, retryTransient } from './kafka-client.js';
import {
  isOfFormerLeader,
  isRefusal,
  isRepeatable,
  isUndone,
  NO_ERROR,
  NotWritten,
  reactionTo,
  refusal,
} from './kafka-errors.js';
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
/** A batch that was given up may be in the log: a broker would take another one under its number for a repetition. */
const UNKNOWN_SEQUENCE = -1;

interface SequencedBatch extends PartitionBatch {
  /** Of the next batch of the partition once this one is appended: a gap would end the producer. */
  readonly nextSequence: number;
}

/** Writes record batches to the leaders of their partitions, with sequence numbers, in order per partition. */
export class BatchWriter {
  private readonly sequences = new Map<string, number>();

  constructor(private readonly options: BatchWriterOptions) {}

  /** Writes one record batch per partition and round, so that the batches of a partition stay in order. */
  async write(outputs: readonly RecordBuffer[], identity: ProducerId): Promise<BaseOffsets> {
    const baseOffsets = new Map<string, number>();
    const deadline = this.options.monotonicNow() + this.options.retryForMs;
    const rounds = Math.max(0, ...outputs.map(({ batches }) => batches.length));
    for (let round = 0; round < rounds; round++) {
      const batches = outputs.flatMap((output) => this.encodeRound(output, round, identity));
      for (const produced of await this.produce(batches, deadline)) {
        const name = partitionName(produced);
        if (!baseOffsets.has(name)) baseOffsets.set(name, produced.baseOffset);
      }
    }
    return baseOffsets;
  }

  private encodeRound(output: RecordBuffer, round: number, identity: ProducerId): SequencedBatch[] {
    const records = output.batches[round];
    if (!records) return [];
    const { topic, partition } = output;
    const { now, isTransactional } = this.options;
    const { count } = records;
    const baseSequence = this.sequences.get(partitionName(output)) ?? 0;
    if (baseSequence === UNKNOWN_SEQUENCE)
      throw new Error(`A former leader of ${partitionName(output)} may have appended a batch that was given up.`);
    const writer = { ...identity, baseSequence, isTransactional };
    const batch = sealRecordBatch(records, now(), writer, MAX_BATCH_BYTES);
    return [{ topic, partition, batch, nextSequence: (baseSequence + count) % 2_147_483_648 }];
  }

  private async produce(batches: readonly SequencedBatch[], deadline: number): Promise<ProducedPartition[]> {
    const done: ProducedPartition[] = [];
    for (let pending = batches; ;) {
      const answers = await this.answers(pending, deadline);
      const written = answers.filter(({ errorCode }) => errorCode === NO_ERROR);
      done.push(...written);
      for (const answer of answers)
        if (isOfFormerLeader(answer.errorCode)) this.sequences.set(partitionName(answer), UNKNOWN_SEQUENCE);
      const names = new Set(written.map(partitionName));
      for (const batch of pending)
        if (names.has(partitionName(batch))) this.sequences.set(partitionName(batch), batch.nextSequence);
      if (written.length === pending.length) return done;
      this.assertRepeatable(answers, deadline);
      pending = pending.filter((batch) => !names.has(partitionName(batch)));
      await sleep(RETRY_WAIT_MS);
      await this.options.client.refreshMetadata().catch(() => undefined);
    }
  }

  private async answers(batches: readonly PartitionBatch[], deadline: number): Promise<ProducedPartition[]> {
    const byLeader = await this.byLeader(batches, deadline);
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

  private async byLeader(
    batches: readonly PartitionBatch[],
    deadline: number,
  ): Promise<Map<KafkajsBroker, PartitionBatch[]>> {
    const { client, logger, monotonicNow } = this.options;
    const byLeader = new Map<KafkajsBroker, PartitionBatch[]>();
    for (const batch of batches) {
      const what = `Leader of ${partitionName(batch)}`;
      const retry = { what, logger, monotonicNow, forMs: Math.max(0, deadline - monotonicNow()) };
      const find = retryTransient(() => client.leader(batch.topic, batch.partition), retry);
      const leader = await find.catch((error: unknown) => this.fail(error, what));
      const list = byLeader.get(leader);
      if (list) list.push(batch);
      else byLeader.set(leader, [batch]);
    }
    return byLeader;
  }

  /** Outside a transaction, an earlier attempt may have been appended without a response. */
  private fail(error: unknown, what: string): never {
    throw isRefusal(error) || !this.options.isTransactional ? error : new NotWritten(what, error);
  }

  /**
   * Batches are sent again that were not appended for certain or are safe to repeat. Other errors end this producer,
   * unless all of them are refusals: nothing is unknown then.
   */
  private assertRepeatable(answers: readonly ProducedPartition[], deadline: number): void {
    const { isTransactional, monotonicNow } = this.options;
    const mayRepeat = isTransactional ? isUndone : isRepeatable;
    const refused = answers.filter(({ errorCode }) => errorCode !== NO_ERROR);
    const fatal =
      refused.find(({ errorCode }) => reactionTo(errorCode) !== 'park' && !mayRepeat(errorCode)) ??
      refused.find(({ errorCode }) => !mayRepeat(errorCode));
    const last = fatal ?? (monotonicNow() > deadline ? refused[0] : undefined);
    if (!last) return;
    const what = `Writing to ${partitionName(last)}`;
    const error = refusal(what, last.errorCode);
    if (refused.some(({ errorCode }) => !isUndone(errorCode))) throw error;
    this.fail(error, what);
  }
}

/** Sends batches to a leader; returns the results of these batches, in any order. */
export type Produce = (leader: KafkajsBroker, batches: readonly PartitionBatch[]) => Promise<ProducedPartition[]>;

interface SharedRequest {
  readonly batches: PartitionBatch[];
  readonly partitions: Set<string>;
  readonly answers: Promise<ProducedPartition[]>;
}

/**
 * Sends one request for all batches that different writers have for a leader in the same tick: a request costs the
 * broker and this process far more than a small batch in it. A request holds one batch per partition, so writers that
 * share a partition need as many requests.
 */
export function createCoalescedProduce(client: Pick<KafkaClient, 'callRaw'>): Produce {
  const collecting = new Map<KafkajsBroker, SharedRequest[]>();
  const begin = (leader: KafkajsBroker): SharedRequest => {
    const batches: PartitionBatch[] = [];
    const answers = endOfTick().then(() => {
      collecting.delete(leader);
      return client.callRaw(leader, produceRequest(null, batches));
    });
    return { batches, partitions: new Set(), answers };
  };
  return async (leader, batches) => {
    const names = batches.map(partitionName);
    const requests = collecting.get(leader) ?? [];
    collecting.set(leader, requests);
    let request = requests.find(({ partitions }) => names.every((name) => !partitions.has(name)));
    if (!request) requests.push((request = begin(leader)));
    request.batches.push(...batches);
    for (const name of names) request.partitions.add(name);
    const answers = await request.answers;
    return answers.filter((answer) => names.includes(partitionName(answer)));
  };
}
