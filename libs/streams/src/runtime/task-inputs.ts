import type { Fetcher } from '../backend/backend.js';
import { LogTruncated, StreamsError, UndecodedBatch } from '../errors.js';
import { partitionName, type RecordBatch, type TopicPartition } from '../record.js';
import { type ExceptionHandlers, isOfRecord } from './parking.js';
import type { OpenedTask } from './partition-task.js';
import { TaskInput } from './task-input.js';

const IDLE_AFTER_MS = 200;

export interface NextPart {
  readonly input: TaskInput;
  readonly batch: RecordBatch;
}

/** What a task reads: a partition, or those of the same number of several topics, the first of which names the task. */
export class TaskInputs {
  readonly all: readonly [TaskInput, ...TaskInput[]];
  /** The input of the records that the task got last, which a failure is attributed to. */
  current: TaskInput;

  constructor(
    [first, ...others]: readonly [TopicPartition, ...TopicPartition[]],
    fetcher: Fetcher,
    deadLetterQueue: ExceptionHandlers['deadLetterQueue'],
  ) {
    this.current = new TaskInput(first, fetcher, deadLetterQueue);
    this.all = [this.current, ...others.map((partition) => new TaskInput(partition, fetcher, deadLetterQueue))];
  }

  get areSeveral(): boolean {
    return this.all.length > 1;
  }

  /** Sums all inputs; null: no batch was processed yet. */
  get lagRecords(): number | null {
    const known = this.all.flatMap(({ lagRecords }) => lagRecords ?? []);
    return known.length === 0 ? null : known.reduce((total, lagRecords) => total + lagRecords, 0);
  }

  /** During a search, records before the one at fault are no progress. */
  get isSearching(): boolean {
    return this.all.some(({ search }) => search.isOn);
  }

  get isToCommit(): boolean {
    return this.all.some(({ search, position }) => search.isToCommit(position));
  }

  resetSearches(): void {
    for (const { search } of this.all) search.reset();
  }

  /** The input whose batch or log an error is about; the task may have met it outside process(). */
  ofError(error: unknown): TaskInput | undefined {
    if (error instanceof LogTruncated) return this.all.find(({ partition }) => partition.topic === error.topic);
    if (!(error instanceof UndecodedBatch)) return undefined;
    return this.all.find(({ partition }) => isOfRecord(error, partition));
  }

  open({ position, others }: OpenedTask): void {
    const [first] = this.all;
    for (const input of this.all) {
      this.current = input;
      const { topic } = input.partition;
      const start = input === first ? position : others?.get(topic);
      if (start === undefined) throw positionMissing(topic, first.partition);
      input.open(start);
    }
    this.current = first;
  }

  /**
   * Returns what to process next. With several inputs: the records with the smallest timestamps, up to where another
   * input continues, as Kafka Streams chooses them.
   * @returns null: nothing came for a while; a commit then still belongs to the last part
   */
  async next(): Promise<NextPart | null> {
    const last = this.current;
    const next = (await this.hold()) ? this.earliest() : null;
    this.current = next?.input ?? last;
    return next;
  }

  /**
   * Waits a while for an input that is known to be behind, and not at all for one at its end, so the order across
   * inputs is best-effort. @returns whether any input has a batch
   */
  private async hold(): Promise<boolean> {
    for (;;) {
      for (const input of this.all) {
        if (input.held) continue;
        this.current = input;
        await input.hold(this.areSeveral);
      }
      const behind = this.all.filter(({ held, isBehind }) => !held && isBehind);
      if (behind.length === 0 && this.all.some(({ held }) => held)) return true;
      const awaited = behind.length > 0 ? behind : this.all;
      if (await Promise.race(awaited.map((input) => input.arrival(IDLE_AFTER_MS)))) continue;
      for (const input of behind) input.isBehind = false;
      return false;
    }
  }

  /** On equal timestamps, and with empty batches, the first input goes first. */
  private earliest(): NextPart | null {
    const holding = this.all.filter(({ held }) => held);
    const [input, second] = [...holding].sort((a, b) => a.nextTimestamp - b.nextTimestamp);
    if (!input) return null;
    const isFirst = !second || holding.indexOf(input) < holding.indexOf(second);
    const batch = input.cut(second?.nextTimestamp ?? Infinity, isFirst);
    return { input, batch };
  }

  wakeup(): void {
    for (const input of this.all) input.wakeup();
  }

  close(): void {
    for (const input of this.all) input.close();
  }
}

function positionMissing(topic: string, partition: TopicPartition): StreamsError {
  const message = `open() of the task of ${partitionName(partition)} gave no position for ${topic}: a task that joins topics returns in \`others\` where it begins in each but the first.`;
  return new StreamsError('INVALID_TOPOLOGY', message);
}
