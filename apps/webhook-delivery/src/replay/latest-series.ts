import { IdTable, PARTS } from '../collections/id-table.js';

/** This many fit into 2^20 slots of the table: 20 MiB. */
const MAX_EVENTS = 750_000;

/**
 * Tracks which series of an event is the latest, and whether its result is selected. Only a portion of the replayed
 * events is held at a time: as many parts of the ids as fit, then the next parts.
 */
export class LatestSeries {
  private events = new IdTable({ withNumbers: true });
  private from = 0;
  /** Exclusive. */
  private to = PARTS;

  constructor(private readonly maxEvents = MAX_EVENTS) {}

  get isEmpty(): boolean {
    return this.events.size === 0;
  }

  get bytes(): number {
    return this.events.bytes;
  }

  /** 0: none is known, or the event is not in this portion. */
  seriesOf(eventId: string): number {
    return (this.events.numberOf(eventId) ?? 0) >>> 1;
  }

  /** undefined: none is known, or the event is not in this portion. */
  isSelected(eventId: string): boolean | undefined {
    const number = this.events.numberOf(eventId);
    return number === undefined ? undefined : (number & 1) === 1;
  }

  put(eventId: string, series: number, isSelected: boolean): void {
    const part = this.events.partOf(eventId);
    if (part < this.from || part >= this.to) return;
    this.events.add(eventId, ((series << 1) | Number(isSelected)) >>> 0);
    while (this.events.size > this.maxEvents && this.to - this.from > 1) {
      this.to = this.from + Math.floor((this.to - this.from) / 2);
      this.events = this.events.below(this.to);
    }
  }

  /** Starts the next portion. @returns false if there is none */
  next(): boolean {
    this.from = this.to;
    this.to = PARTS;
    this.events = new IdTable({ withNumbers: true });
    return this.from < PARTS;
  }
}
