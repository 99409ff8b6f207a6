import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Headroom, PacedWork } from '../process/headroom.js';

/** The fan-out may take half of the event loop; the rest is for sending and receiving. */
const MAX_SHARE = 0.5;

/**
 * Pieces of work of all partitions of a process, one after another. The event loop goes round between two of them, and
 * they are followed by rests in proportion to what they took.
 */
export class DutyCycle {
  private last: Promise<void> = Promise.resolve();
  private readonly paced: PacedWork;

  constructor(monotonicMs: () => number, headroom: Pick<Headroom, 'share'>) {
    this.paced = new PacedWork(monotonicMs, () => MAX_SHARE * headroom.share());
  }

  /** Resolves when `work` is done; rejects if it throws. */
  run(work: () => void): Promise<void> {
    const done = this.last
      .then(() => this.rest())
      .then(() => {
        this.paced.run(work);
      });
    this.last = done.catch(() => undefined);
    return done;
  }

  private rest(): Promise<void> {
    const restMs = this.paced.restMs();
    return restMs > 0 ? sleep(restMs) : nextTurn();
  }
}
