import { StreamsError, toError } from '@waypost/streams';
import { Aborted } from '../common/waits.js';
import type { ReplayJob } from './replay-job.js';

export interface ReplaySchedulerOptions {
  readonly maxRunning: number;
  readonly timeSliceMs: number;
  readonly now: () => number;
  readonly onOver: (job: ReplayJob) => void;
  readonly onFailure: (error: Error) => void;
}

/**
 * The fair scheduler for the replays of one partition. A subscription has one running replay at a time, the oldest
 * first; when there are more subscriptions than `maxRunning`, they alternate by time slices, so that no replay has to
 * wait for the end of another subscription's.
 */
export class ReplayScheduler {
  private waiting: ReplayJob[] = [];
  private readonly running = new Map<ReplayJob, Promise<void>>();
  private isStopped = false;

  constructor(private readonly options: ReplaySchedulerOptions) {}

  add(job: ReplayJob): void {
    this.waiting.push(job);
    this.fill();
  }

  /** Runs a cancelled replay at once, above `maxRunning` if need be, so that it ends. */
  cancelled(job: ReplayJob): void {
    if (this.removeWaiting(job)) this.start(job);
  }

  /** The job is not run again. Resolves when its current time slice, if any, is over. */
  async drop(job: ReplayJob): Promise<void> {
    this.removeWaiting(job);
    await this.running.get(job);
    this.removeWaiting(job);
  }

  /** Resolves when nothing is running; the signal of the jobs must have been aborted before. */
  async drained(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running.values());
  }

  private fill(): void {
    while (!this.isStopped && this.running.size < this.options.maxRunning) {
      const next = this.nextJob();
      if (!next) return;
      this.removeWaiting(next);
      this.start(next);
    }
  }

  /** The oldest replay of the longest waiting subscription that has none running. */
  private nextJob(): ReplayJob | undefined {
    const busy = new Set([...this.running.keys()].map(({ subscriptionId }) => subscriptionId));
    const first = this.waiting.find(({ subscriptionId }) => !busy.has(subscriptionId));
    if (!first) return undefined;
    const ofSubscription = this.waiting.filter(({ subscriptionId }) => subscriptionId === first.subscriptionId);
    return ofSubscription.reduce((oldest, job) => (job.series < oldest.series ? job : oldest), first);
  }

  private removeWaiting(job: ReplayJob): boolean {
    const rest = this.waiting.filter((other) => other !== job);
    const wasWaiting = rest.length < this.waiting.length;
    this.waiting = rest;
    return wasWaiting;
  }

  private start(job: ReplayJob): void {
    const { now, timeSliceMs } = this.options;
    // Its time runs from its first question: a job that had to select first would lose its slice to the selection.
    let until: number | null = null;
    const mayContinue = (): boolean => {
      until ??= now() + timeSliceMs;
      return now() < until || this.nextJob() === undefined;
    };
    const slice = job.run(mayContinue).then(
      () => {
        this.yielded(job);
      },
      (error: unknown) => {
        this.failed(job, error);
      },
    );
    this.running.set(job, slice);
  }

  private yielded(job: ReplayJob): void {
    this.running.delete(job);
    if (job.isOver) this.options.onOver(job);
    else if (!this.isStopped) this.waiting.push(job);
    this.fill();
  }

  private failed(job: ReplayJob, error: unknown): void {
    if (error instanceof Aborted || this.isStopped) {
      this.running.delete(job);
      return;
    }
    // Retention has just deleted what the job was about to read: it starts again from what is left.
    if (error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE') this.yielded(job);
    else this.options.onFailure(toError(error));
  }
}
