import { type AvroCodecs, topics, traceHeaders } from '@waypost/contracts';
import { isSampledTrace, type OperationalEvent, type WebhookAttempt } from '@waypost/domain';
import { type OutgoingRecord, partitionName, type TopicPartition } from '@waypost/streams';
import { type FencedWriter, toError } from '@waypost/streams/admin';
import type { Flushable, FlushScheduler } from '../../commits/flush-scheduler.js';

export interface AttemptLogOptions {
  readonly writer: FencedWriter;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  /** The position after the last attempt of the partition. */
  readonly attemptsEnd: number;
  readonly flushScheduler: FlushScheduler;
  readonly states: () => StateChanges;
  readonly onFlushed: () => void;
  /** Called when the log can no longer be written: the task must stop. */
  readonly onFailure: (error: Error) => void;
}

export interface StateChanges {
  readonly records: readonly OutgoingRecord[];
  readonly written: () => void;
}

interface Entry {
  readonly record: OutgoingRecord;
  readonly settled: (isDurable: boolean) => void;
}

/**
 * Writes the attempts of a partition in grouped commits: attempts that end while a request is in flight go into the
 * next one. The predecessor is fenced, so the broker refuses anything it still sends.
 */
export class AttemptLog implements Flushable {
  attemptsEnd: number;
  private readonly attempts: TopicPartition;
  private readonly operationalEvents: TopicPartition;
  private waiting: Entry[] = [];
  private publishing: OutgoingRecord[] = [];
  private isWriting = false;
  private isRequested = false;
  private hasFailed = false;
  private whenDrained: (() => void)[] = [];

  constructor(private readonly options: AttemptLogOptions) {
    const { partition } = options;
    this.attempts = { topic: topics.webhookAttempts.name, partition };
    this.operationalEvents = { topic: topics.webhookOperations.name, partition };
    this.attemptsEnd = options.attemptsEnd;
  }

  /**
   * Calls `settled` with whether the attempt is in the log. If it is not, the log has failed: ignore the attempt.
   * @param traceparent the context of the attempt; null: no attempt was made
   */
  append(attempt: WebhookAttempt, traceparent: string | null, settled: (isDurable: boolean) => void): void {
    if (this.hasFailed) {
      settled(false);
      return;
    }
    const { topic, partition } = this.attempts;
    const value = this.options.codecs.webhookAttempts.encode(attempt);
    const record = { topic, partition, key: Buffer.from(attempt.subscriptionId), value };
    // Consumers have no use for the context of an unsampled trace.
    const isTraced = traceparent !== null && isSampledTrace(traceparent);
    this.waiting.push({ record: isTraced ? { ...record, headers: traceHeaders(traceparent) } : record, settled });
    this.requestFlush();
  }

  publish(event: OperationalEvent): void {
    const value = this.options.codecs.webhookOperations.encode(event);
    this.publishing.push({ ...this.operationalEvents, key: Buffer.from(event.subscriptionId), value });
    this.requestFlush();
  }

  /** Schedules a flush, e.g. because state records are due. */
  requestFlush(): void {
    if (this.isRequested || this.hasFailed) return;
    this.isRequested = true;
    if (!this.isWriting) this.options.flushScheduler.request(this);
  }

  /** Resolves when everything appended is written or the log has failed. */
  drained(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.whenDrained.push(resolve));
  }

  flush(): number {
    this.isRequested = false;
    const states = this.options.states();
    const entries = this.waiting;
    const records = [...entries.map(({ record }) => record), ...this.publishing, ...states.records];
    this.waiting = [];
    this.publishing = [];
    if (records.length === 0) this.notifyIdle();
    else void this.write(records, entries, states);
    return records.length;
  }

  private async write(
    records: readonly OutgoingRecord[],
    entries: readonly Entry[],
    states: StateChanges,
  ): Promise<void> {
    this.isWriting = true;
    try {
      const base = (await this.options.writer.append(records)).get(partitionName(this.attempts));
      if (base !== undefined) this.attemptsEnd = base + entries.length;
      this.isWriting = false;
      states.written();
      for (const { settled } of entries) settled(true);
      this.options.onFlushed();
      if (this.isRequested) this.options.flushScheduler.request(this);
    } catch (error) {
      this.fail(toError(error), entries);
    }
    this.notifyIdle();
  }

  private fail(error: Error, entries: readonly Entry[]): void {
    this.isWriting = false;
    this.hasFailed = true;
    const waiting = this.waiting.splice(0);
    for (const { settled } of [...entries, ...waiting]) settled(false);
    this.options.onFailure(error);
  }

  private get isIdle(): boolean {
    return this.hasFailed || (!this.isWriting && !this.isRequested);
  }

  private notifyIdle(): void {
    if (!this.isIdle) return;
    for (const resolve of this.whenDrained.splice(0)) resolve();
  }
}
