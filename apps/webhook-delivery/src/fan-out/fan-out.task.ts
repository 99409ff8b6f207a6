import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  type AvroCodecs,
  consumerGroups,
  readTraceHeader,
  readTraceState,
  readValue,
  resolveBatch,
  topics,
  traceHeaders,
} from '@waypost/contracts';
import {
  decideFanOut,
  DomainError,
  eventFault,
  type FleetEvent,
  isSampledTrace,
  traceOfDelivery,
  traceOfPing,
  type WebhookDelivery,
} from '@waypost/domain';
import type { Quarantine, Traces, UnusableRecord } from '@waypost/platform';
import {
  type FencedWriter,
  partitionForKey,
  type PartitionTask,
  type RecordBatch,
  slicesOf,
  type StreamRecord,
  type StreamsBackend,
  StreamsError,
  type StreamsLogger,
  type TaskContext,
  toError,
} from '@waypost/streams';
import type { FlushScheduler } from '../log/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../log/position-committer.js';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { Clocks } from '../process/clocks.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { spanOfDelivery } from './delivery-span.js';
import { DeliveryWriter } from './delivery-writer.js';
import type { DutyCycle } from './duty-cycle.js';
import { FanOutProgress } from './fan-out-progress.js';
import { FleetRotation, type WaitingEvent } from './fleet-rotation.js';

export interface FanOutParts extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'matching' | 'caughtUp'>;
  readonly flushScheduler: FlushScheduler;
  readonly metrics: Pick<DeliveryMetrics, 'deliveryCreated'>;
  readonly quarantine: Pick<Quarantine, 'put'>;
  readonly logger: StreamsLogger;
  readonly rounds: DutyCycle;
  readonly traces: Traces;
}

/**
 * fleet.events x subscriptions -> webhook.deliveries, for one partition of events: one delivery per matching subscription,
 * with its body frozen here. Deliveries are keyed by subscription, so a partition of webhook.deliveries has several
 * writers, and a subscription has one sender.
 *
 * Of a burst a fleet gets the first deliveries at once. The rest waits and is served by fleet in rotation, so the
 * committed position is that of the first event that waits.
 *
 * Each delivery is written once, without a transaction: a successor first fences its predecessor off all partitions, then
 * reads what was written since the committed position and skips it (an event and a subscription have one id, R-12).
 */
export function createFanOutTask(parts: FanOutParts, context: TaskContext): PartitionTask {
  return new FanOutTask(parts, context);
}

const SLICE_RECORDS = 250;
/** What a fleet without waiting events gets from one slice at once; the rest of its burst waits. */
const DELIVERIES_AT_ONCE = 250;
const DELIVERIES_PER_ROUND = 64;
/** An event that comes now waits for the request under way: it must be small. */
const MAX_UNSENT_BYTES = 128 * 1024;
/** What the deliveries of one slice may take; further events of it wait. Above it by those of one event at most. */
const MAX_SLICE_BYTES = 4 * 1024 * 1024;
/** How far a partition is read ahead. A fleet whose burst is longer than this delays the events behind it. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

class FanOutTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private committer: PositionCommitter | null = null;
  private readonly waiting = new FleetRotation();
  private readonly progress: FanOutProgress;
  /** The partitions of webhook.deliveries. */
  private outputs = 0;
  /** All events before it have been read: their deliveries are added, or they wait. */
  private readUpTo = 0;
  /** Of the events before it, those that cannot be used are in the quarantine. */
  private quarantinedUpTo = 0;
  private isFanningOut = false;
  private isStopped = false;
  private whenRoom: () => void = () => undefined;
  private deliveries: DeliveryWriter | null = null;

  constructor(
    private readonly parts: FanOutParts,
    private readonly context: TaskContext,
  ) {
    this.progress = new FanOutProgress(parts, context);
  }

  async open(): Promise<{ position: number }> {
    const { backend, monotonicMs, logger } = this.parts;
    const { context } = this;
    const outputs = await this.outputPartitions();
    this.writer = backend.fencedWriter(`${consumerGroups.fanOut.id}.${String(context.partition)}`, outputs);
    // First: from now on no predecessor can write for this partition, so what is read next is final.
    await this.writer.init();
    await context.confirmOwnership();
    this.outputs = outputs.length;
    const position = await this.progress.recover(this.outputs);
    const checkpoint = () => this.progress.checkpoint();
    this.committer = createPositionCommitter({
      context,
      monotonicMs,
      logger,
      committed: checkpoint(),
      position: checkpoint,
    });
    this.deliveries = new DeliveryWriter({
      writer: this.writer,
      flushScheduler: this.parts.flushScheduler,
      onWritten: (written, baseOffsets) => {
        this.progress.wrote(written, baseOffsets, this.readUpTo);
        this.committer?.moved();
      },
      onFailure: (error) => {
        context.fail(error);
      },
    });
    this.readUpTo = position;
    this.quarantinedUpTo = position;
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { codecs, directory } = this.parts;
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      // A subscription that was acknowledged before an event must receive it: read the table to its end first.
      await Promise.all([resolveBatch(codecs.fleetEvents, slice), directory.caughtUp()]);
      const unusable = this.fanOutSlice(slice);
      // First: deliveries of the slice may be written while the quarantine is.
      this.readUpTo = (slice.at(-1)?.offset ?? this.readUpTo - 1) + 1;
      await this.parts.quarantine.put(this.context, unusable);
      this.quarantinedUpTo = this.readUpTo;
      this.advance();
      this.startWaiting();
      await this.opened().sent();
      await this.untilRoom();
      await nextIteration();
    }
    this.readUpTo = batch.nextOffset;
    this.quarantinedUpTo = batch.nextOffset;
    this.advance();
    await this.idle();
  }

  async idle(): Promise<void> {
    if (!this.isFanningOut && this.opened().isIdle) await this.progress.raiseOutputs(this.readUpTo);
    this.committer?.moved();
  }

  revoke(): void {
    this.isStopped = true;
    this.whenRoom();
    this.deliveries?.stop();
    void this.committer?.stop();
  }

  async close(): Promise<void> {
    this.isStopped = true;
    await this.committer?.stop();
    await this.writer?.close();
  }

  private opened(): DeliveryWriter {
    if (!this.deliveries) throw new Error('The task was not opened.');
    return this.deliveries;
  }

  private async outputPartitions() {
    const topic = topics.webhookDeliveries.name;
    const count = await this.parts.backend.partitionCount(topic);
    if (count === null)
      throw new StreamsError('TOPIC_MISSING', `The topic ${topic} does not exist: create it by waypost set-up.`);
    return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
  }

  /** @returns the events that cannot be used */
  private fanOutSlice(slice: readonly StreamRecord[]): UnusableRecord[] {
    const unusable: UnusableRecord[] = [];
    const readAt = this.parts.traces.recorder === null ? 0 : this.parts.nowMs();
    const added = new Map<string, number>();
    const deliveries = this.opened();
    for (const record of slice) {
      const { offset, value } = record;
      const read = readValue(this.parts.codecs.fleetEvents, value);
      const fault = read.type === 'rejected' ? read : eventFault(read.value);
      if (fault !== null) unusable.push({ record, ...fault });
      if (read.type === 'rejected' || fault !== null) continue;
      const event = read.value;
      const trace = { traceparent: readTraceHeader(record.headers), tracestate: readTraceState(record.headers) };
      const before = added.get(event.fleetId) ?? 0;
      const hasRoom = before < DELIVERIES_AT_ONCE && deliveries.unsentBytes < MAX_SLICE_BYTES;
      if (hasRoom && !this.waiting.has(event.fleetId))
        added.set(event.fleetId, before + this.addDeliveries({ event, ...trace, readAt }));
      else this.waiting.push({ offset, event, ...trace, readAt, bytes: value?.length ?? 0 });
    }
    return unusable;
  }

  private startWaiting(): void {
    if (this.waiting.isEmpty || this.isFanningOut) return;
    this.isFanningOut = true;
    void this.fanOutWaiting().catch((error: unknown) => {
      this.context.fail(toError(error));
    });
  }

  private advance(): void {
    const { quarantinedUpTo, waiting } = this;
    this.opened().advanceTo(Math.min(waiting.firstOffset() ?? quarantinedUpTo, quarantinedUpTo));
  }

  /** Works on while further events are read. */
  private async fanOutWaiting(): Promise<void> {
    const deliveries = this.opened();
    while (!this.isStopped && !this.waiting.isEmpty) {
      await this.parts.rounds.run(() => {
        this.fanOutRound();
      });
      this.whenRoom();
      if (deliveries.unsentBytes >= MAX_UNSENT_BYTES) await deliveries.sent();
    }
    this.isFanningOut = false;
  }

  private fanOutRound(): void {
    for (let added = 0; added < DELIVERIES_PER_ROUND;) {
      const next = this.waiting.take();
      if (!next) break;
      added += Math.max(1, this.addDeliveries(next));
    }
    this.advance();
  }

  private async untilRoom(): Promise<void> {
    while (!this.isStopped && this.waiting.bytes > MAX_WAITING_BYTES) {
      await new Promise<void>((resolve) => {
        this.whenRoom = resolve;
      });
    }
  }

  /** @returns how many */
  private addDeliveries(read: Omit<WaitingEvent, 'offset' | 'bytes'>): number {
    const { event, tracestate, readAt } = read;
    const { codecs, metrics, traces } = this.parts;
    const decided = this.decide(event);
    if (decided.length === 0) return 0;
    // An event without a context is in the trace that begins at its ping, which follows from ids and time of both.
    const ofEvent = read.traceparent ?? traceOfPing(event, null, traces.sampleRatio);
    let added = 0;
    for (const delivery of decided) {
      if (this.progress.hasWritten(delivery.eventId)) continue;
      metrics.deliveryCreated();
      const key = Buffer.from(delivery.subscriptionId);
      const partition = partitionForKey(key, this.outputs);
      const traceparent = traceOfDelivery(delivery.eventId, ofEvent, traces.sampleRatio);
      this.opened().add({
        topic: topics.webhookDeliveries.name,
        partition,
        key,
        value: codecs.webhookDeliveries.encode(delivery),
        headers: traceHeaders(traceparent, tracestate),
      });
      if (traces.recorder !== null && isSampledTrace(traceparent))
        traces.recorder.record(spanOfDelivery(delivery, { traceparent, ofEvent, partition, readAt }));
      added += 1;
    }
    return added;
  }

  /** @throws StreamsError NEWER_VERSION: the partition waits for an upgrade rather than leave a delivery out */
  private decide(event: FleetEvent): readonly WebhookDelivery[] {
    const { directory, nowMs } = this.parts;
    try {
      return decideFanOut(event, directory.matching(event), nowMs());
    } catch (error) {
      if (error instanceof DomainError) throw new StreamsError('NEWER_VERSION', error.message, { cause: error });
      throw error;
    }
  }
}
