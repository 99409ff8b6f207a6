import { setImmediate as nextIteration } from 'node:timers/promises';
import { type AvroCodecs, consumerGroups, readValue, resolveBatch, topics } from '@waypost/contracts';
import { decideFanOut, DomainError, eventFault, type FleetEvent, type WebhookDelivery } from '@waypost/domain';
import type { Quarantine, UnusableRecord } from '@waypost/platform';
import {
  type BaseOffsets,
  type FencedWriter,
  partitionForKey,
  partitionName,
  type PartitionTask,
  type RecordBatch,
  slicesOf,
  type StreamRecord,
  type StreamsBackend,
  StreamsError,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import type { DeliveryMetrics } from '../common/delivery-metrics.js';
import type { FlushScheduler } from '../common/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../common/position-committer.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { DeliveryWriter } from './delivery-writer.js';
import {
  checkpointMetadata,
  findLostPosition,
  outputsOf,
  readWritten,
  type WrittenDeliveries,
} from './fan-out-checkpoint.js';

export interface FanOutParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'candidates' | 'caughtUp'>;
  readonly flushScheduler: FlushScheduler;
  readonly metrics: Pick<DeliveryMetrics, 'deliveryCreated'>;
  readonly quarantine: Pick<Quarantine, 'put'>;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

/**
 * fleet.events x subscriptions -> webhook.deliveries, for one partition of events: one delivery per matching subscription,
 * with its body frozen here. Deliveries are keyed by subscription, so a partition of webhook.deliveries has several
 * writers, and a subscription has one sender.
 *
 * Each delivery is written once, without a transaction: a successor first fences its predecessor off all partitions, then
 * reads what was written since the committed position and skips it (an event and a subscription have one id, R-12).
 */
export function createFanOutTask(parts: FanOutParts, context: TaskContext): PartitionTask {
  return new FanOutTask(parts, context);
}

const SLICE_RECORDS = 250;
const RAISE_INTERVAL_MS = 60_000;

class FanOutTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private committer: PositionCommitter | null = null;
  private position = 0;
  private outputsFrom: number[] = [];
  /** Set until all events that a predecessor may have fanned out have been processed. */
  private written: (WrittenDeliveries & { readonly until: number }) | null = null;
  private raisedAt = 0;
  private deliveries: DeliveryWriter | null = null;

  constructor(
    private readonly parts: FanOutParts,
    private readonly context: TaskContext,
  ) {}

  async open(): Promise<{ position: number }> {
    const { backend, now, logger } = this.parts;
    const { context } = this;
    const outputs = await this.outputPartitions();
    this.writer = backend.fencedWriter(`${consumerGroups.fanOut.id}.${String(context.partition)}`, outputs);
    // First: from now on no predecessor can write for this partition, so what is read next is final.
    await this.writer.init();
    await context.confirmOwnership();
    await this.recover(outputs.length);
    const position = () => ({ offset: this.position, metadata: checkpointMetadata(this.outputsFrom) });
    this.committer = createPositionCommitter({ context, now, logger, committed: position(), position });
    this.deliveries = new DeliveryWriter({
      writer: this.writer,
      flushScheduler: this.parts.flushScheduler,
      onWritten: (written, baseOffsets) => {
        this.wrote(written, baseOffsets);
      },
      onFailure: (error) => {
        context.fail(error);
      },
    });
    return { position: this.position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { codecs, directory } = this.parts;
    const deliveries = this.opened();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      // A subscription that was acknowledged before an event must receive it: read the table to its end first.
      await Promise.all([resolveBatch(codecs.fleetEvents, slice), directory.caughtUp()]);
      const last = slice.at(-1);
      const unusable = slice.flatMap((record) => this.fanOut(record) ?? []);
      await this.parts.quarantine.put(this.context, unusable);
      if (last) deliveries.advanceTo(last.offset + 1);
      await deliveries.sent();
      await nextIteration();
    }
    deliveries.advanceTo(batch.nextOffset);
    await this.idle();
  }

  async idle(): Promise<void> {
    if (this.parts.now() - this.raisedAt > RAISE_INTERVAL_MS) await this.raiseOutputs();
    this.committer?.moved();
  }

  revoke(): void {
    void this.committer?.stop();
  }

  async close(): Promise<void> {
    await this.committer?.stop();
    await this.writer?.close();
  }

  private opened(): DeliveryWriter {
    if (!this.deliveries) throw new Error('The task was not opened.');
    return this.deliveries;
  }

  private wrote(position: number, baseOffsets: BaseOffsets): void {
    this.noteBaseOffsets(baseOffsets);
    this.position = position;
    if (this.written && position >= this.written.until) {
      this.outputsFrom = [...this.written.ends];
      this.written = null;
    }
    this.committer?.moved();
  }

  /**
   * Later deliveries lie after the last ones written. Not while deliveries of a predecessor are being skipped: the next
   * successor would have to find those as well.
   */
  private noteBaseOffsets(baseOffsets: ReadonlyMap<string, number>): void {
    if (this.written) return;
    const topic = topics.webhookDeliveries.name;
    for (const partition of this.outputsFrom.keys()) {
      const base = baseOffsets.get(partitionName({ topic, partition }));
      if (base !== undefined) this.outputsFrom[partition] = base;
    }
  }

  private async outputPartitions() {
    const topic = topics.webhookDeliveries.name;
    const count = await this.parts.backend.partitionCount(topic);
    if (count === null)
      throw new StreamsError('TOPIC_MISSING', `The topic ${topic} does not exist: run the topic set-up first.`);
    return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
  }

  private async recover(outputs: number): Promise<void> {
    const { backend, logger } = this.parts;
    const { topic, partition } = this.context;
    const committed = await this.context.committedOffset();
    const lost = await findLostPosition(this.parts, {
      topic,
      partition,
      committed: committed?.offset ?? null,
      outputs,
    });
    if (lost !== null) throw new StreamsError('POSITION_LOST', lost);
    const outputsFrom = committed && outputsOf(committed.metadata, outputs);
    if (!outputsFrom) {
      await this.begin(committed?.offset ?? (await backend.startOffset({ topic, partition })), outputs);
      return;
    }
    this.position = committed.offset;
    this.outputsFrom = outputsFrom;
    const until = await backend.endOffset({ topic, partition });
    if (this.position >= until) {
      await this.raiseOutputs();
      return;
    }
    const written = await readWritten(this.parts, outputsFrom);
    this.written = { ...written, until };
    logger.info('fan_out_recovered', { partition, position: this.position, until, written: written.eventIds.size });
  }

  /** Partitions that this task rarely writes to grow by other writers: a successor need not read all of that. Call when idle. */
  private async raiseOutputs(): Promise<void> {
    if (this.written || this.deliveries?.isIdle === false) return;
    this.outputsFrom = await this.outputEnds(this.outputsFrom.length);
    this.raisedAt = this.parts.now();
  }

  private outputEnds(outputs: number): Promise<number[]> {
    const topic = topics.webhookDeliveries.name;
    const ends = Array.from({ length: outputs }, (_, partition) => this.parts.backend.endOffset({ topic, partition }));
    return Promise.all(ends);
  }

  /** Commits where a successor has to look before the first delivery is written. */
  private async begin(position: number, outputs: number): Promise<void> {
    this.outputsFrom = await this.outputEnds(outputs);
    this.position = position;
    await this.context.commitOffset(position, checkpointMetadata(this.outputsFrom));
  }

  /** @returns why the event cannot be used, if so */
  private fanOut(record: StreamRecord): UnusableRecord | null {
    const { codecs, metrics } = this.parts;
    const read = readValue(codecs.fleetEvents, record.value);
    if (read.type === 'rejected') return { record, ...read };
    const fault = eventFault(read.value);
    if (fault !== null) return { record, ...fault };
    for (const delivery of this.decide(read.value)) {
      if (this.written?.eventIds.has(delivery.eventId)) continue;
      metrics.deliveryCreated();
      const key = Buffer.from(delivery.subscriptionId);
      this.opened().add({
        topic: topics.webhookDeliveries.name,
        partition: partitionForKey(key, this.outputsFrom.length),
        key,
        value: codecs.webhookDeliveries.encode(delivery),
      });
    }
    return null;
  }

  /** @throws StreamsError NEWER_VERSION: the partition waits for an upgrade rather than leave a delivery out */
  private decide(event: FleetEvent): readonly WebhookDelivery[] {
    const { directory, now } = this.parts;
    try {
      return decideFanOut(event, directory.candidates(event.fleetId, event.eventType), now());
    } catch (error) {
      if (error instanceof DomainError) throw new StreamsError('NEWER_VERSION', error.message, { cause: error });
      throw error;
    }
  }
}
