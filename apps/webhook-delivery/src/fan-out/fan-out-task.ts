import { setImmediate as nextTurn } from 'node:timers/promises';
import { consumerGroups, resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import { decideFanOut } from '@waypost/domain';
import {
  partitionForKey,
  partitionName,
  slicesOf,
  StreamsError,
  type BaseOffsets,
  type FencedWriter,
  type PartitionTask,
  type RecordBatch,
  type StreamRecord,
  type StreamsBackend,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { FlushClock } from '../writing/flush-clock.js';
import { createPositionKeeper, type PositionKeeper } from '../writing/position-keeper.js';
import { DeliveryWriter } from './delivery-writer.js';
import { checkpointMetadata, outputsOf, readWritten, type WrittenDeliveries } from './fan-out-checkpoint.js';

export interface FanOutParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'candidates' | 'caughtUp'>;
  readonly clock: FlushClock;
  readonly metrics: Pick<DeliveryMetrics, 'deliveryCreated'>;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

/**
 * fleet.events x subscriptions -> webhook.deliveries, for one partition of events: a delivery for each subscription that
 * matches, its body frozen here and never written again. Deliveries go by the key of their subscription, so a
 * partition of webhook.deliveries has several writers, and a subscription has one sender.
 *
 * Each is written once, without a transaction: a successor first shuts its predecessor out of all partitions, then reads
 * what that has written since the committed position, and leaves out what is there (an event and a subscription have
 * one id, R-12).
 */
export const createFanOutTask = (parts: FanOutParts, context: TaskContext): PartitionTask =>
  new FanOutTask(parts, context);

const SLICE_RECORDS = 250;
const RAISE_EVERY_MS = 60_000;

class FanOutTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private keeper: PositionKeeper | null = null;
  private position = 0;
  private outputsFrom: number[] = [];
  /** Until the events are behind us that a predecessor may have fanned out. */
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
    // First: what is read afterwards is final, since nobody but us writes for this partition any more.
    await this.writer.init();
    await context.confirmOwnership();
    await this.recover(outputs.length);
    const position = () => ({ offset: this.position, metadata: checkpointMetadata(this.outputsFrom) });
    this.keeper = createPositionKeeper({ context, now, logger, committed: position(), position });
    this.deliveries = new DeliveryWriter({
      writer: this.writer,
      clock: this.parts.clock,
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
      // A subscription that was acknowledged before an event must get it: the table is read to its end first.
      await Promise.all([resolveBatch(codecs.fleetEvents, slice), directory.caughtUp()]);
      const last = slice.at(-1);
      for (const record of slice) this.fanOut(record);
      if (last) deliveries.advanceTo(last.offset + 1);
      await deliveries.onItsWay();
      await nextTurn();
    }
    deliveries.advanceTo(batch.nextOffset);
    await this.idle();
  }

  async idle(): Promise<void> {
    if (this.parts.now() - this.raisedAt > RAISE_EVERY_MS) await this.raiseOutputs();
    this.keeper?.moved();
  }

  revoke(): void {
    void this.keeper?.stop();
  }

  async close(): Promise<void> {
    await this.keeper?.stop();
    await this.writer?.close();
  }

  private opened(): DeliveryWriter {
    if (!this.deliveries) throw new Error('The task was not opened.');
    return this.deliveries;
  }

  private wrote(position: number, baseOffsets: BaseOffsets): void {
    this.noteBases(baseOffsets);
    this.position = position;
    if (this.written && position >= this.written.until) {
      this.outputsFrom = [...this.written.ends];
      this.written = null;
    }
    this.keeper?.moved();
  }

  /**
   * Whatever we write later lies behind what we wrote last. Not while we leave out what a predecessor has written: a
   * successor of ours would have to find that as well.
   */
  private noteBases(baseOffsets: ReadonlyMap<string, number>): void {
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

  /** Where we write seldom or never, others do: a successor need not read all of that. Called when nothing is under way. */
  private async raiseOutputs(): Promise<void> {
    if (this.written || this.deliveries?.isAtRest === false) return;
    this.outputsFrom = await this.outputEnds(this.outputsFrom.length);
    this.raisedAt = this.parts.now();
  }

  private outputEnds(outputs: number): Promise<number[]> {
    const topic = topics.webhookDeliveries.name;
    const ends = Array.from({ length: outputs }, (_, partition) => this.parts.backend.endOffset({ topic, partition }));
    return Promise.all(ends);
  }

  /** Before the first delivery is written it must be known from where to look for it. */
  private async begin(position: number, outputs: number): Promise<void> {
    this.outputsFrom = await this.outputEnds(outputs);
    this.position = position;
    await this.context.commitOffset(position, checkpointMetadata(this.outputsFrom));
  }

  private fanOut({ value }: StreamRecord): void {
    const { codecs, directory, metrics, now } = this.parts;
    const decoded = value && codecs.fleetEvents.decode(value);
    if (decoded?.type !== 'decoded') {
      throw new StreamsError(
        'CORRUPT_STATE',
        `An event of our own log cannot be read: ${decoded?.type ?? 'no value'}.`,
      );
    }
    const event = decoded.value;
    for (const delivery of decideFanOut(event, directory.candidates(event.fleetId, event.eventType), now())) {
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
  }
}
