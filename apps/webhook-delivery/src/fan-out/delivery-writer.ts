import type { OutgoingRecord } from '@waypost/streams';
import { type BaseOffsets, type FencedWriter, toError } from '@waypost/streams/admin';
import type { Flushable, FlushScheduler } from '../commits/flush-scheduler.js';

export interface DeliveryWriterOptions {
  readonly writer: FencedWriter;
  readonly flushScheduler: FlushScheduler;
  /** All deliveries of the events before `position` are in the log. */
  readonly onWritten: (position: number, baseOffsets: BaseOffsets) => void;
  readonly onFailure: (error: Error) => void;
}

const NOTHING: BaseOffsets = new Map();

/**
 * Writes the deliveries of one partition of events in order, one request at a time. Events are still read while a
 * request is in flight; their deliveries go into the next one.
 */
export class DeliveryWriter implements Flushable {
  /** Bytes of the bodies in the next request. */
  unsentBytes = 0;
  private outgoing: OutgoingRecord[] = [];
  private addedUpTo = -1;
  private isWriting = false;
  private isRequested = false;
  /** Set after a failure or a stop: nothing more is sent. */
  private isOver = false;
  private whenSent: (() => void)[] = [];

  constructor(private readonly options: DeliveryWriterOptions) {}

  add(record: OutgoingRecord): void {
    this.outgoing.push(record);
    this.unsentBytes += record.value?.length ?? 0;
  }

  /** All deliveries of the events before `position` have been added. Call it without awaiting after the last `add`. */
  advanceTo(position: number): void {
    this.addedUpTo = position;
    if (this.isIdle) this.options.onWritten(position, NOTHING);
    else this.requestFlush();
  }

  get isIdle(): boolean {
    return this.outgoing.length === 0 && !this.isWriting;
  }

  /**
   * Resolves when everything added has been sent. All partitions of the process then continue together, so their next
   * requests share round trips.
   */
  sent(): Promise<void> {
    if (this.outgoing.length === 0 || this.isOver) return Promise.resolve();
    return new Promise((resolve) => this.whenSent.push(resolve));
  }

  flush(): number {
    this.isRequested = false;
    if (this.isWriting || this.isOver) return 0;
    const { outgoing: records, addedUpTo } = this;
    this.outgoing = [];
    this.unsentBytes = 0;
    for (const resolve of this.whenSent.splice(0)) resolve();
    this.isWriting = true;
    this.options.writer.append(records).then(
      (baseOffsets) => {
        this.isWriting = false;
        this.options.onWritten(addedUpTo, baseOffsets);
        if (this.outgoing.length > 0 || this.addedUpTo > addedUpTo) this.requestFlush();
      },
      (error: unknown) => {
        this.fail(toError(error));
      },
    );
    return records.length;
  }

  private requestFlush(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    this.options.flushScheduler.request(this);
  }

  /** Ends every wait in `sent`; a successor writes what is left. */
  stop(): void {
    this.isOver = true;
    for (const resolve of this.whenSent.splice(0)) resolve();
  }

  private fail(error: Error): void {
    this.stop();
    this.options.onFailure(error);
  }
}
