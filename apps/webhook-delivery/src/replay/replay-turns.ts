import { StreamsError } from '@waypost/streams';
import type { ReplayJob } from './replay-job.js';
import { Aborted } from './until-aborted.js';

/**
 * The turns of the replays of one partition. A subscription has one at work at a time, the oldest first; when there are
 * more subscriptions than places, they change after a while, so that no replay has to wait for the end of another's.
 */
export interface ReplayTurns {
  add(job: ReplayJob): void;
  /** It was cancelled: it ends now, whether it had a place or not. */
  cancelled(job: ReplayJob): void;
  /** It gets no more turns. Resolves when the one that it may have now is over. */
  drop(job: ReplayJob): Promise<void>;
  /** Resolves when nothing is at work; after the signal of the jobs. */
  drained(): Promise<void>;
}

export interface ReplayTurnsOptions {
  readonly places: number;
  readonly turnMs: number;
  readonly now: () => number;
  readonly onOver: (job: ReplayJob) => void;
  readonly onFailure: (error: Error) => void;
}

export const createReplayTurns = (options: ReplayTurnsOptions): ReplayTurns => new RoundRobin(options);

class RoundRobin implements ReplayTurns {
  private waiting: ReplayJob[] = [];
  private readonly atWork = new Map<ReplayJob, Promise<void>>();
  private stopped = false;

  constructor(private readonly options: ReplayTurnsOptions) {}

  add(job: ReplayJob): void {
    this.waiting.push(job);
    this.fill();
  }

  cancelled(job: ReplayJob): void {
    if (this.takeOut(job)) this.start(job);
  }

  async drop(job: ReplayJob): Promise<void> {
    this.takeOut(job);
    await this.atWork.get(job);
    this.takeOut(job);
  }

  async drained(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.atWork.values());
  }

  private fill(): void {
    while (!this.stopped && this.atWork.size < this.options.places) {
      const next = this.nextInTurn();
      if (!next) return;
      this.takeOut(next);
      this.start(next);
    }
  }

  /** Of the subscription that has waited longest and has none at work: its oldest replay. */
  private nextInTurn(): ReplayJob | undefined {
    const busy = new Set([...this.atWork.keys()].map(({ subscriptionId }) => subscriptionId));
    const first = this.waiting.find(({ subscriptionId }) => !busy.has(subscriptionId));
    if (!first) return undefined;
    const ofSubscription = this.waiting.filter(({ subscriptionId }) => subscriptionId === first.subscriptionId);
    return ofSubscription.reduce((oldest, job) => (job.series < oldest.series ? job : oldest), first);
  }

  private takeOut(job: ReplayJob): boolean {
    const without = this.waiting.filter((other) => other !== job);
    const was = without.length < this.waiting.length;
    this.waiting = without;
    return was;
  }

  private start(job: ReplayJob): void {
    const { now, turnMs } = this.options;
    const until = now() + turnMs;
    const mayGoOn = (): boolean => now() < until || this.nextInTurn() === undefined;
    const turn = job.turn(mayGoOn).then(
      () => {
        this.left(job);
      },
      (error: unknown) => {
        this.failed(job, error);
      },
    );
    this.atWork.set(job, turn);
  }

  private left(job: ReplayJob): void {
    this.atWork.delete(job);
    if (job.isOver) this.options.onOver(job);
    else if (!this.stopped) this.waiting.push(job);
    this.fill();
  }

  private failed(job: ReplayJob, error: unknown): void {
    if (error instanceof Aborted || this.stopped) {
      this.atWork.delete(job);
      return;
    }
    // What it was about to read has just been deleted by the retention: it looks again at what there is.
    if (error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE') this.left(job);
    else this.options.onFailure(error instanceof Error ? error : new Error(String(error)));
  }
}
