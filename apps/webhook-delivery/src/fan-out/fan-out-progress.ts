import { type AvroCodecs, topics } from '@waypost/contracts';
import {
  partitionName,
  type StreamsBackend,
  StreamsError,
  type StreamsLogger,
  type TaskContext,
} from '@waypost/streams';
import type { BaseOffsets } from '@waypost/streams/admin';
import type { Clocks } from '../process/clocks.js';
import {
  checkpointMetadata,
  findLostPosition,
  outputsOf,
  readWritten,
  type WrittenDeliveries,
} from './fan-out-checkpoint.js';

export interface FanOutProgressDeps extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
}

const RAISE_INTERVAL_MS = 60_000;

/**
 * Tracks how far a partition of events is fanned out, and where a successor starts to look for deliveries written
 * beyond that point.
 */
export class FanOutProgress {
  private position = 0;
  /** Positions by partition of webhook.deliveries: the deliveries of all events after `position` lie at or after them. */
  private outputsFrom: readonly number[] = [];
  /** Where the last write to each of these partitions began. */
  private outputBases: number[] = [];
  /** The next value of `outputsFrom`: the deliveries of all events from `readUpTo` on lie at or after it. */
  private mark = { readUpTo: 0, outputsFrom: this.outputsFrom };
  /** Set until all events that a predecessor may have fanned out have been processed. */
  private written: WrittenDeliveries | null = null;
  /** Monotonic. */
  private raisedMs = -Infinity;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: FanOutProgressDeps,
  ) {}

  checkpoint(): { readonly offset: number; readonly metadata: string } {
    return { offset: this.position, metadata: checkpointMetadata(this.outputsFrom) };
  }

  hasWritten(eventId: string): boolean {
    return this.written?.eventIds.has(eventId) === true;
  }

  /**
   * Finds where to resume. Call when no predecessor can write any more.
   * @param outputs the partitions of webhook.deliveries
   * @returns the position of the first event to read
   * @throws StreamsError POSITION_LOST
   */
  async recover(outputs: number): Promise<number> {
    const { topic, partition } = this.context;
    const committed = await this.context.committedOffset();
    const found = { topic, partition, committed: committed?.offset ?? null, outputs };
    const lost = await findLostPosition(this.deps, found);
    if (lost !== null) throw new StreamsError('POSITION_LOST', lost);
    const outputsFrom = committed && outputsOf(committed.metadata, outputs);
    if (outputsFrom) await this.resume(committed.offset, outputsFrom);
    else await this.begin(committed?.offset ?? (await this.deps.backend.startOffset({ topic, partition })), outputs);
    this.outputBases = [...(this.written?.ends ?? this.outputsFrom)];
    this.mark = { readUpTo: this.position, outputsFrom: this.outputsFrom };
    return this.position;
  }

  /** All deliveries of the events before `position` are written; all events before `readUpTo` have been read. */
  wrote(position: number, baseOffsets: BaseOffsets, readUpTo: number): void {
    const topic = topics.webhookDeliveries.name;
    for (const partition of this.outputBases.keys()) {
      const base = baseOffsets.get(partitionName({ topic, partition }));
      if (base !== undefined) this.outputBases[partition] = base;
    }
    this.position = position;
    // Until the last event of the predecessor is passed, a successor has to find the deliveries of both.
    if (this.written && position >= this.written.until) this.passMark(this.written.ends, readUpTo);
    else if (!this.written && position >= this.mark.readUpTo) this.passMark(this.mark.outputsFrom, readUpTo);
  }

  /**
   * Other writers keep adding to partitions that this task rarely writes to. Moving the start now and then spares a
   * successor from reading all of that. Call when everything that was read is written.
   */
  async raiseOutputs(readUpTo: number): Promise<void> {
    if (this.written || this.deps.monotonicMs() - this.raisedMs <= RAISE_INTERVAL_MS) return;
    this.outputBases = await this.outputEnds(this.outputsFrom.length);
    this.passMark([...this.outputBases], readUpTo);
    this.raisedMs = this.deps.monotonicMs();
  }

  private passMark(outputsFrom: readonly number[], readUpTo: number): void {
    this.written = null;
    this.outputsFrom = outputsFrom;
    // Events not read yet are written after everything written by now.
    this.mark = { readUpTo, outputsFrom: [...this.outputBases] };
  }

  /** Commits where a successor starts to look, before the first delivery is written. */
  private async begin(position: number, outputs: number): Promise<void> {
    this.outputsFrom = await this.outputEnds(outputs);
    this.position = position;
    await this.context.commitOffset(position, checkpointMetadata(this.outputsFrom));
  }

  private async resume(position: number, outputsFrom: readonly number[]): Promise<void> {
    const { topic, partition } = this.context;
    this.position = position;
    this.outputsFrom = outputsFrom;
    const end = await this.deps.backend.endOffset({ topic, partition });
    if (position >= end) {
      await this.raiseOutputs(position);
      return;
    }
    const written = await readWritten(this.deps, { partition, position, outputsFrom });
    // No predecessor has written any delivery for the events after the last one found, perhaps hours of them.
    const until = Math.min(written.until, end);
    const { size } = written.eventIds;
    this.deps.logger.info('fan_out_recovered', { partition, position, until, written: size });
    if (position >= until) this.outputsFrom = written.ends;
    else this.written = { ...written, until };
  }

  private outputEnds(outputs: number): Promise<number[]> {
    const topic = topics.webhookDeliveries.name;
    const ends = Array.from({ length: outputs }, (_, partition) => this.deps.backend.endOffset({ topic, partition }));
    return Promise.all(ends);
  }
}
