import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { CLOCK_TOLERANCE_MS } from '@waypost/domain';
import type { StreamRecord, StreamsBackend, TopicPartition } from '@waypost/streams';
import { settleOrAbort } from '@waypost/streams/admin';
import { readIfUsable } from '../process/read-own-record.js';

interface PassOptions {
  readonly log: TopicPartition;
  readonly subscriptionId: string;
  readonly from: number;
  /** null: the end of the log when the pass begins. */
  readonly end: number | null;
}

/** Reads the records of the subscription once, from a given time on, in as many turns as needed. */
export class LogPass<T> {
  private position: number | null = null;
  private end: number | null;
  private isOver = false;

  constructor(
    private readonly backend: StreamsBackend,
    private readonly codec: SubjectCodec<T>,
    private readonly options: PassOptions,
  ) {
    this.end = options.end;
  }

  /**
   * @param onRecord returns whether it has seen enough
   * @returns whether the pass is complete
   */
  async read(onRecord: (record: T) => boolean, mayContinue: () => boolean, signal: AbortSignal): Promise<boolean> {
    if (this.isOver) return true;
    const { log } = this.options;
    const end = (this.end ??= await this.backend.endOffset(log));
    let position = await this.start(end);
    const fetcher = this.backend.fetcher();
    try {
      const feed = position < end ? fetcher.open(log, position) : null;
      while (feed && position < end) {
        const batch = await settleOrAbort(feed.next(), signal);
        const ours = await this.oursOf(batch.records.filter(({ offset }) => offset < end));
        this.isOver = ours.some(onRecord);
        this.position = position = batch.nextOffset;
        if (this.isOver) return true;
        if (!mayContinue()) return false;
      }
    } finally {
      await fetcher.close();
    }
    return (this.isOver = true);
  }

  private async start(end: number): Promise<number> {
    const { log, from } = this.options;
    const since = Math.max(0, from - CLOCK_TOLERANCE_MS.replayerAndBroker);
    if (this.position === null) return (await this.backend.offsetAt(log, since)) ?? end;
    // Retention may have deleted the next record.
    return Math.max(this.position, await this.backend.startOffset(log));
  }

  private async oursOf(records: readonly StreamRecord[]): Promise<T[]> {
    const key = Buffer.from(this.options.subscriptionId);
    const ours = records.filter((record) => record.key?.equals(key) === true);
    await resolveBatch(this.codec, ours);
    return ours.map(({ value }) => readIfUsable(this.codec, value)).filter((record) => record !== null);
  }
}
