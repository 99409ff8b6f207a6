import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** The fan-out may take 40 % of the event loop; the rest is for sending and receiving. */
const REST_PER_WORK = 1.5;
/** Timers are precise to a millisecond or so: shorter rests add up until one is worth a timer. */
const MIN_REST_MS = 4;

/**
 * Pieces of work of all partitions of a process, one after another. The event loop goes round between two of them, and
 * they are followed by rests in proportion to what they took.
 */
export class DutyCycle {
  private last: Promise<void> = Promise.resolve();
  private restUntilMs = -Infinity;

  constructor(private readonly monotonicMs: () => number) {}

  /** Resolves when `work` is done; rejects if it throws. */
  run(work: () => void): Promise<void> {
    const done = this.last.then(() => this.rest()).then(() => this.timed(work));
    this.last = done.catch(() => undefined);
    return done;
  }

  private rest(): Promise<void> {
    const restMs = this.restUntilMs - this.monotonicMs();
    return restMs >= MIN_REST_MS ? sleep(restMs) : nextIteration();
  }

  private timed(work: () => void): void {
    const fromMs = this.monotonicMs();
    work();
    const endMs = this.monotonicMs();
    this.restUntilMs = Math.max(this.restUntilMs, endMs) + (endMs - fromMs) * REST_PER_WORK;
  }
}
