import { StreamsError } from '@waypost/streams';
import { toError } from '@waypost/streams/admin';
import type { TimerPort } from '../process/timers.js';
import { Aborted } from '../process/waits.js';
import type { ReplayJob, ReplayTurn } from './replay-job.js';
import { ReplayRotation } from './replay-rotation.js';

export interface ReplaySchedulerOptions {
  readonly maxRunning: number;
  readonly timeSliceMs: number;
  readonly monotonicMs: () => number;
  readonly timers: TimerPort;
  readonly onOver: (job: ReplayJob) => void;
  readonly onFailure: (error: Error) => void;
}

/** How soon a waiting replay gets a free place once it can make progress. */
const CHECK_MS = 50;

/**
 * Runs the replays of one partition, at most `maxRunning` at a time. If more have something to do, they alternate in
 * time slices, in rotation order, so that none has to wait for another to end. A replay that can only wait gives up its
 * place at once.
 */
export class ReplayScheduler {
  private readonly rotation = new ReplayRotation<ReplayJob>();
  private readonly running = new Map<ReplayJob, Promise<void>>();
  private cancelCheck: (() => void) | null = null;
  private isStopped = false;

  constructor(private readonly options: ReplaySchedulerOptions) {}

  add(job: ReplayJob): void {
    this.rotation.wait(job);
    this.fill();
  }

  /** Runs a cancelled replay at once, even above `maxRunning`, so that it ends. */
  cancelled(job: ReplayJob): void {
    if (this.rotation.remove(job)) this.start(job);
  }

  /** Prevents further runs of the job. Resolves when its current time slice, if any, is over. */
  async drop(job: ReplayJob): Promise<void> {
    this.rotation.remove(job);
    await this.running.get(job);
    this.rotation.remove(job);
  }

  /** Resolves when nothing is running. The signal of the jobs must be aborted first. */
  async drained(): Promise<void> {
    this.isStopped = true;
    this.cancelCheck?.();
    await Promise.all(this.running.values());
  }

  private fill(): void {
    while (!this.isStopped && this.running.size < this.options.maxRunning) {
      const next = this.rotation.next();
      if (!next) {
        if (!this.rotation.isEmpty) this.checkSoon();
        return;
      }
      this.rotation.remove(next);
      this.start(next);
    }
  }

  private checkSoon(): void {
    this.cancelCheck ??= this.options.timers.after(CHECK_MS, () => {
      this.cancelCheck = null;
      this.fill();
    });
  }

  private start(job: ReplayJob): void {
    this.rotation.began(job);
    const slice = job.run(this.turnOf(job)).then(
      () => {
        this.yielded(job);
      },
      (error: unknown) => {
        this.failed(job, error);
      },
    );
    this.running.set(job, slice);
  }

  /** The time slice starts at the first `mayContinue`, when the job can make progress. */
  private turnOf(job: ReplayJob): ReplayTurn {
    const { monotonicMs, timeSliceMs } = this.options;
    let until: number | null = null;
    return {
      mayContinue: () => {
        until ??= monotonicMs() + timeSliceMs;
        return monotonicMs() < until || !this.rotation.isOverdue(job);
      },
      mayWait: () => this.rotation.next() === undefined,
    };
  }

  private yielded(job: ReplayJob): void {
    this.running.delete(job);
    if (!job.isOver && !this.isStopped) this.rotation.wait(job);
    this.rotation.ended(job);
    if (job.isOver) this.options.onOver(job);
    this.fill();
  }

  private failed(job: ReplayJob, error: unknown): void {
    if (error instanceof Aborted || this.isStopped) {
      this.running.delete(job);
      return;
    }
    const known = error instanceof StreamsError ? error : null;
    if (known?.code === 'CORRUPT_BATCH' || known?.code === 'CODEC_MISSING') job.setAside(known);
    // Retention has just deleted what the job was about to read: it restarts from what is left.
    else if (known?.code !== 'OFFSET_OUT_OF_RANGE') {
      this.options.onFailure(toError(error));
      return;
    }
    this.yielded(job);
  }
}
