import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AvroCodecs,
  consumerGroups,
  missingTopic,
  readTraceHeader,
  readTraceState,
  readValue,
  resolveBatch,
  topics,
} from '@waypost/contracts';
import { eventFault } from '@waypost/domain';
import type { Quarantine, Traces, UnusableRecord } from '@waypost/platform';
import {
  type PartitionTask,
  type RecordBatch,
  slicesOf,
  type StreamRecord,
  type StreamsBackend,
  StreamsError,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import { type FencedWriter, toError } from '@waypost/streams/admin';
import type { FlushScheduler } from '../commits/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../commits/position-committer.js';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { Clocks } from '../process/clocks.js';
import type { Headroom } from '../process/headroom.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { DeliveryWriter } from './delivery-writer.js';
import type { DutyCycle } from './duty-cycle.js';
import { type DeliveryLog, eventDeliveries } from './event-deliveries.js';
import { FanOutProgress } from './fan-out-progress.js';
import { FleetRotation } from './fleet-rotation.js';

export interface FanOutDeps extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'matching' | 'caughtUp'>;
  readonly flushScheduler: FlushScheduler;
  readonly metrics: Pick<DeliveryMetrics, 'deliveryCreated'>;
  readonly quarantine: Pick<Quarantine, 'put'>;
  readonly logger: StreamsLogger;
  readonly headroom: Pick<Headroom, 'share'>;
  readonly rounds: Pick<DutyCycle, 'run'>;
  readonly traces: Traces;
}

/** Events decoded per turn of the event loop. Due retries wait for one turn. */
const SLICE_RECORDS = 100;
/** Deliveries made per turn of the event loop. Due retries wait for them too. */
const DELIVERIES_PER_ROUND = 32;
/** Deliveries made for one fleet before the next fleet's turn. */
const DELIVERIES_PER_TURN = 8;
/** Deliveries made at once for a slice, outside the rounds, unless retries have been late. */
const DELIVERIES_AT_ONCE = 100;
/** A new event waits for the request in flight, so requests must be small. */
const MAX_UNSENT_BYTES = 128 * 1024;
/** The limit for the first deliveries of a fleet, which go into the next request even if a burst has filled it. */
const MAX_UNSENT_BYTES_AT_ONCE = 2 * MAX_UNSENT_BYTES;
/** Bytes read ahead per partition. A longer burst of one fleet delays the events after it. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * fleet.events x subscriptions -> webhook.deliveries, for one partition of events: one delivery per matching subscription,
 * with its body frozen here. Deliveries are keyed by subscription, so a partition of webhook.deliveries has several
 * writers, and a subscription has one sender.
 *
 * Events that were read wait in a rotation by fleet, and their deliveries are made in small rounds: neither a burst nor an
 * event for many subscriptions delays another fleet, or a retry. The committed position is that of the first event that
 * waits.
 *
 * Each delivery is written once, without a transaction: a successor first fences its predecessor off all partitions, then
 * reads what was written of the events since the committed position and skips it (an event and a subscription have one id,
 *
 */
export class FanOutTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private committer: PositionCommitter | null = null;
  private readonly waiting = new FleetRotation();
  private readonly progress: FanOutProgress;
  private deliveryLog: DeliveryLog = { partitions: 0, hasWritten: () => false };
  /** All events before this offset have been read: their deliveries are added, or they are in `waiting`. */
  private readUpTo = 0;
  /** Unusable events before this offset are in the quarantine. */
  private quarantinedUpTo = 0;
  private isFanningOut = false;
  private isStopped = false;
  private whenRoom: () => void = () => undefined;
  private deliveries: DeliveryWriter | null = null;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: FanOutDeps,
  ) {
    this.progress = new FanOutProgress(context, deps);
  }

  async open(): Promise<{ position: number }> {
    const { backend, monotonicMs, logger } = this.deps;
    const { context } = this;
    const outputs = await this.outputPartitions();
    this.writer = backend.fencedWriter(`${consumerGroups.fanOut.id}.${String(context.partition)}`, outputs);
    // Must come first: it fences the predecessor, so what is read next is final.
    await this.writer.init();
    await context.confirmOwnership();
    this.deliveryLog = { partitions: outputs.length, hasWritten: (eventId) => this.progress.hasWritten(eventId) };
    const position = await this.progress.recover(outputs.length);
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
      flushScheduler: this.deps.flushScheduler,
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
    const { codecs, directory } = this.deps;
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      // A subscription that was acknowledged before an event must receive it: read the table to its end first.
      await Promise.all([resolveBatch(codecs.fleetEvents, slice), directory.caughtUp()]);
      const { unusable, newcomers } = this.read(slice);
      // Set before the wait: deliveries of the slice may be written during the quarantine.
      this.readUpTo = (slice.at(-1)?.offset ?? this.readUpTo - 1) + 1;
      await this.deps.quarantine.put(this.context, unusable);
      this.quarantinedUpTo = this.readUpTo;
      this.fanOutAtOnce(newcomers);
      this.startWaiting();
      await this.untilRoom();
      await nextTurn();
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
    if (!this.deliveries) throw new Error('The task has not been opened.');
    return this.deliveries;
  }

  private async outputPartitions() {
    const topic = topics.webhookDeliveries.name;
    const count = await this.deps.backend.partitionCount(topic);
    if (count === null) throw new StreamsError('TOPIC_MISSING', missingTopic(topic));
    return Array.from({ length: count }, (_, partition) => ({ topic, partition }));
  }

  /** @returns the unusable events, and the fleets that had no event waiting before */
  private read(slice: readonly StreamRecord[]) {
    const unusable: UnusableRecord[] = [];
    const newcomers = new Set<string>();
    const readAt = this.deps.traces.recorder === null ? 0 : this.deps.nowMs();
    for (const record of slice) {
      const { offset, value, headers } = record;
      const read = readValue(this.deps.codecs.fleetEvents, value);
      const fault = read.type === 'rejected' ? read : eventFault(read.value);
      if (fault !== null) unusable.push({ record, ...fault });
      if (read.type === 'rejected' || fault !== null) continue;
      const event = read.value;
      const trace = { traceparent: readTraceHeader(headers), tracestate: readTraceState(headers) };
      const position = { partition: this.context.partition, offset };
      const deliveries = eventDeliveries(this.deps, { event, position, ...trace, readAt }, this.deliveryLog);
      if (!this.waiting.has(event.fleetId)) newcomers.add(event.fleetId);
      this.waiting.push({ offset, fleetId: event.fleetId, deliveries, bytes: value?.length ?? 0 });
    }
    return { unusable, newcomers };
  }

  /** Skips this while the brokers do not keep up: the rest waits as events, whose number is bounded. */
  private fanOutAtOnce(newcomers: Iterable<string>): void {
    const hasRoom = this.opened().unsentBytes < MAX_UNSENT_BYTES_AT_ONCE;
    if (hasRoom && this.deps.headroom.share() === 1) this.fanOut(newcomers, DELIVERIES_AT_ONCE);
    else this.advance();
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

  /** Runs while more events are read. */
  private async fanOutWaiting(): Promise<void> {
    const deliveries = this.opened();
    while (!this.isStopped && !this.waiting.isEmpty) {
      await this.deps.rounds.run(() => {
        this.fanOut(this.waiting.turns(), DELIVERIES_PER_ROUND);
      });
      this.whenRoom();
      if (deliveries.unsentBytes >= MAX_UNSENT_BYTES) await deliveries.sent();
    }
    this.isFanningOut = false;
  }

  private fanOut(fleets: Iterable<string>, deliveries: number): void {
    let added = 0;
    for (const fleetId of fleets) {
      added += this.takeTurn(fleetId);
      if (added >= deliveries) break;
    }
    this.advance();
  }

  /** @returns how many deliveries it made; an event without any counts as one */
  private takeTurn(fleetId: string): number {
    let added = 0;
    for (let event = this.waiting.first(fleetId); event && added < DELIVERIES_PER_TURN; added++) {
      const delivery = event.deliveries.next();
      if (delivery.done !== true) {
        this.opened().add(delivery.value);
        continue;
      }
      this.waiting.removeFirst(fleetId);
      event = this.waiting.first(fleetId);
    }
    return added;
  }

  private async untilRoom(): Promise<void> {
    while (!this.isStopped && this.waiting.bytes > MAX_WAITING_BYTES) {
      await new Promise<void>((resolve) => {
        this.whenRoom = resolve;
      });
    }
  }
}
