import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { MONOTONIC_CLOCK } from '@waypost/platform';
import { Headroom, PacedWork } from '../process/headroom.js';

/** The fan-out may take half of the event loop; the rest is for sending and receiving. */
const MAX_SHARE = 0.5;

/**
 * Runs pieces of work of all partitions of a process one at a time. It yields to the event loop after each piece, and
 * rests in proportion to how long the pieces took.
 */
@Injectable()
export class DutyCycle {
  private last: Promise<void> = Promise.resolve();
  private readonly paced: PacedWork;

  constructor(@Inject(MONOTONIC_CLOCK) monotonicMs: () => number, @Inject(Headroom) headroom: Pick<Headroom, 'share'>) {
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
