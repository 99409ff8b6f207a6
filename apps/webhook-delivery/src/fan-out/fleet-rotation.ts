import type { FleetEvent } from '@waypost/domain';
import { Fifo } from '../queues/fifo.js';

/** An event of one partition that still has to become deliveries. */
export interface WaitingEvent {
  readonly offset: number;
  readonly event: FleetEvent;
  /** Its trace context as it came; null: none. */
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** Epoch milliseconds; 0 without spans. */
  readonly readAt: number;
  /** As encoded in the log. */
  readonly bytes: number;
}

/**
 * Events of one partition, taken in rotation by fleet and in log order within a fleet: the burst of one fleet does not
 * delay the next event of another, and the events of a device stay in order.
 */
export class FleetRotation {
  /** In the order of the rotation. */
  private readonly byFleet = new Map<string, Fifo<WaitingEvent>>();
  bytes = 0;

  push(waiting: WaitingEvent): void {
    const { fleetId } = waiting.event;
    let queue = this.byFleet.get(fleetId);
    if (!queue) this.byFleet.set(fleetId, (queue = new Fifo()));
    queue.push(waiting);
    this.bytes += waiting.bytes;
  }

  has(fleetId: string): boolean {
    return this.byFleet.has(fleetId);
  }

  get isEmpty(): boolean {
    return this.byFleet.size === 0;
  }

  take(): WaitingEvent | undefined {
    for (const [fleetId, queue] of this.byFleet) {
      const waiting = queue.shift();
      this.byFleet.delete(fleetId);
      if (queue.length > 0) this.byFleet.set(fleetId, queue);
      this.bytes -= waiting?.bytes ?? 0;
      return waiting;
    }
    return undefined;
  }

  /** Everything before it has been taken; null: nothing waits. */
  firstOffset(): number | null {
    let first: number | null = null;
    for (const queue of this.byFleet.values()) {
      const offset = queue.peek()?.offset ?? Infinity;
      if (first === null || offset < first) first = offset;
    }
    return first;
  }
}
