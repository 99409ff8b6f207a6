import { topics, type AvroCodecs, type OperationalEvent, type WebhookAttempt } from '@waypost/contracts';
import { partitionName, type FencedWriter, type OutgoingRecord, type TopicPartition } from '@waypost/streams';
import type { FlushClock, Flushable } from '../writing/flush-clock.js';

export interface AttemptLogOptions {
  readonly writer: FencedWriter;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  /** Position behind the last attempt of the partition. */
  readonly attemptsEnd: number;
  readonly clock: FlushClock;
  /** What else should be written now, and what to do once it is. Asked at each flush. */
  readonly states: () => StateChanges;
  /** Something is in the log that was not before. */
  readonly onFlushed: () => void;
  /** The log can no longer be written; nothing may go on as if it could. */
  readonly onFailure: (error: Error) => void;
}

export interface StateChanges {
  readonly records: readonly OutgoingRecord[];
  readonly written: () => void;
}

/**
 * Writes the attempts of a partition, many with each request: whatever ended while one was under way goes into the
 * next. The predecessor is shut out, so what it may still send is refused by the broker.
 */
export interface AttemptLog {
  /** `settled` is told whether the attempt is in the log; false when the log has failed and nobody may act on it. */
  append(attempt: WebhookAttempt, settled: (isDurable: boolean) => void): void;
  tell(event: OperationalEvent): void;
  /** There may be states to write. */
  wake(): void;
  readonly attemptsEnd: number;
  /** Resolves when everything appended is written or the log has failed. */
  drained(): Promise<void>;
}

interface Entry {
  readonly record: OutgoingRecord;
  readonly settled: (isDurable: boolean) => void;
}

export const createAttemptLog = (options: AttemptLogOptions): AttemptLog => new GroupedAttemptLog(options);

class GroupedAttemptLog implements AttemptLog, Flushable {
  attemptsEnd: number;
  private readonly attempts: TopicPartition;
  private readonly operations: TopicPartition;
  private waiting: Entry[] = [];
  private told: OutgoingRecord[] = [];
  private isWriting = false;
  private isWanted = false;
  private hasFailed = false;
  private whenDrained: (() => void)[] = [];

  constructor(private readonly options: AttemptLogOptions) {
    const { partition } = options;
    this.attempts = { topic: topics.webhookAttempts.name, partition };
    this.operations = { topic: topics.webhookOperations.name, partition };
    this.attemptsEnd = options.attemptsEnd;
  }

  append(attempt: WebhookAttempt, settled: (isDurable: boolean) => void): void {
    if (this.hasFailed) {
      settled(false);
      return;
    }
    const { topic, partition } = this.attempts;
    const value = this.options.codecs.webhookAttempts.encode(attempt);
    this.waiting.push({ record: { topic, partition, key: Buffer.from(attempt.subscriptionId), value }, settled });
    this.wake();
  }

  tell(event: OperationalEvent): void {
    const value = this.options.codecs.webhookOperations.encode(event);
    this.told.push({ ...this.operations, key: Buffer.from(event.subscriptionId), value });
    this.wake();
  }

  wake(): void {
    if (this.isWanted || this.hasFailed) return;
    this.isWanted = true;
    if (!this.isWriting) this.options.clock.want(this);
  }

  drained(): Promise<void> {
    if (this.isAtRest) return Promise.resolve();
    return new Promise((resolve) => this.whenDrained.push(resolve));
  }

  flush(): number {
    this.isWanted = false;
    const states = this.options.states();
    const entries = this.waiting;
    const records = [...entries.map(({ record }) => record), ...this.told, ...states.records];
    this.waiting = [];
    this.told = [];
    if (records.length === 0) this.rest();
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
      if (this.isWanted) this.options.clock.want(this);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)), entries);
    }
    this.rest();
  }

  private fail(error: Error, entries: readonly Entry[]): void {
    this.isWriting = false;
    this.hasFailed = true;
    const waiting = this.waiting.splice(0);
    for (const { settled } of [...entries, ...waiting]) settled(false);
    this.options.onFailure(error);
  }

  private get isAtRest(): boolean {
    return this.hasFailed || (!this.isWriting && !this.isWanted);
  }

  private rest(): void {
    if (!this.isAtRest) return;
    for (const resolve of this.whenDrained.splice(0)) resolve();
  }
}
