import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** The fan-out of a burst may take 40 % of the event loop; the rest is for sending and receiving. */
const REST_PER_WORK = 1.5;

/** Pieces of work of all partitions of a process, one after another, with a rest behind each in proportion to it. */
export class DutyCycle {
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly monotonicMs: () => number = () => performance.now()) {}

  /** Resolves when `work` is done; rejects if it throws. */
  run(work: () => void): Promise<void> {
    const done = this.last.then(() => nextIteration()).then(() => this.timed(work));
    this.last = done.then((workedMs) => sleep(workedMs * REST_PER_WORK)).catch(() => undefined);
    return done.then(() => undefined);
  }

  private timed(work: () => void): number {
    const from = this.monotonicMs();
    work();
    return this.monotonicMs() - from;
  }
}
