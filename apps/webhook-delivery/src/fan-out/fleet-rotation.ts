import type { OutgoingRecord } from '@waypost/streams';
import { Fifo } from '../collections/fifo.js';

/** An event with those of its deliveries that are still to be made. */
export interface WaitingEvent {
  readonly offset: number;
  readonly fleetId: string;
  readonly deliveries: Iterator<OutgoingRecord>;
  /** The encoded size in the log. */
  readonly bytes: number;
}

/**
 * Events of one partition, in rotation by fleet and in log order within a fleet: the burst of one fleet does not delay the
 * next event of another, and the events of a device stay in order.
 */
export class FleetRotation {
  /** The order of the map is that of the rotation. */
  private readonly byFleet = new Map<string, Fifo<WaitingEvent>>();
  bytes = 0;

  push(waiting: WaitingEvent): void {
    const { fleetId } = waiting;
    let queue = this.byFleet.get(fleetId);
    if (!queue) this.byFleet.set(fleetId, (queue = new Fifo()));
    queue.push(waiting);
    this.bytes += waiting.bytes;
  }

  get isEmpty(): boolean {
    return this.byFleet.size === 0;
  }

  has(fleetId: string): boolean {
    return this.byFleet.has(fleetId);
  }

  /** Yields the fleets in turn until nothing waits. */
  *turns(): Generator<string, void> {
    for (const [fleetId, queue] of this.byFleet) {
      this.byFleet.delete(fleetId);
      this.byFleet.set(fleetId, queue);
      yield fleetId;
    }
  }

  /** Returns the event without removing it. */
  first(fleetId: string): WaitingEvent | undefined {
    return this.byFleet.get(fleetId)?.peek();
  }

  removeFirst(fleetId: string): void {
    const queue = this.byFleet.get(fleetId);
    this.bytes -= queue?.shift()?.bytes ?? 0;
    if (queue?.length === 0) this.byFleet.delete(fleetId);
  }

  /** All events before this offset have been removed; null: nothing waits. */
  firstOffset(): number | null {
    let first: number | null = null;
    for (const queue of this.byFleet.values()) {
      const offset = queue.peek()?.offset ?? Infinity;
      if (first === null || offset < first) first = offset;
    }
    return first;
  }
}
