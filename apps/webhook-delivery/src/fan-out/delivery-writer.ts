import type { BaseOffsets, FencedWriter, OutgoingRecord } from '@waypost/streams';
import type { FlushClock, Flushable } from '../writing/flush-clock.js';

export interface DeliveryWriterOptions {
  readonly writer: FencedWriter;
  readonly clock: FlushClock;
  /** Everything for events before `position` is in the log. */
  readonly onWritten: (position: number, baseOffsets: BaseOffsets) => void;
  readonly onFailure: (error: Error) => void;
}

const NOTHING: BaseOffsets = new Map();

/**
 * Writes the deliveries of a partition of events, in their order, one request after the other: while one is under way
 * events are read on, and what they make goes with the next.
 */
export class DeliveryWriter implements Flushable {
  private outgoing: OutgoingRecord[] = [];
  private addedTo = -1;
  private isWriting = false;
  private isWanted = false;
  private hasFailed = false;
  private whenOnItsWay: (() => void)[] = [];

  constructor(private readonly options: DeliveryWriterOptions) {}

  add(record: OutgoingRecord): void {
    this.outgoing.push(record);
  }

  /** All deliveries of the events before `position` were added. Must follow the last of them without a wait. */
  advanceTo(position: number): void {
    this.addedTo = position;
    if (this.isAtRest) this.options.onWritten(position, NOTHING);
    else this.want();
  }

  get isAtRest(): boolean {
    return this.outgoing.length === 0 && !this.isWriting;
  }

  /**
   * Resolves when what was added is on its way. All partitions of the process go on at the same moment then, and ask
   * together for what they need next.
   */
  onItsWay(): Promise<void> {
    if (this.outgoing.length === 0 || this.hasFailed) return Promise.resolve();
    return new Promise((resolve) => this.whenOnItsWay.push(resolve));
  }

  /** Called by the clock, for all partitions of the process at once. */
  flush(): number {
    this.isWanted = false;
    if (this.isWriting || this.hasFailed) return 0;
    const { outgoing: records, addedTo } = this;
    this.outgoing = [];
    for (const resolve of this.whenOnItsWay.splice(0)) resolve();
    this.isWriting = true;
    this.options.writer.append(records).then(
      (baseOffsets) => {
        this.isWriting = false;
        this.options.onWritten(addedTo, baseOffsets);
        if (this.outgoing.length > 0 || this.addedTo > addedTo) this.want();
      },
      (error: unknown) => {
        this.fail(error instanceof Error ? error : new Error(String(error)));
      },
    );
    return records.length;
  }

  private want(): void {
    if (this.isWanted) return;
    this.isWanted = true;
    this.options.clock.want(this);
  }

  private fail(error: Error): void {
    this.hasFailed = true;
    for (const resolve of this.whenOnItsWay.splice(0)) resolve();
    this.options.onFailure(error);
  }
}
