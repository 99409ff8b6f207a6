import type { ReplayJob } from './replay-job.js';

export type RotatedReplay = Pick<ReplayJob, 'fleetId' | 'subscriptionId' | 'series' | 'canGoOn'>;

/**
 * Decides which replay runs next. The fleet with the fewest running replays goes first, then the one whose last
 * turn ended longest ago. Within the fleet it is the subscription without a running replay whose last turn ended
 * longest ago, with its oldest replay. While that replay could only wait, the younger ones of its subscription wait
 * too, and others get the turn.
 */
export class ReplayRotation<Job extends RotatedReplay> {
  /** The order of both maps is that of the rotation. */
  private readonly fleets = new Map<string, Fleet<Job>>();
  private waitingCount = 0;

  get isEmpty(): boolean {
    return this.waitingCount === 0;
  }

  wait(job: Job): void {
    this.sharesOf(job).subscription.waiting.push(job);
    this.waitingCount++;
  }

  /** @returns whether it waited */
  remove(job: Job): boolean {
    const { waiting } = this.sharesOf(job).subscription;
    const at = waiting.indexOf(job);
    if (at >= 0) {
      waiting.splice(at, 1);
      this.waitingCount--;
    }
    this.forgetIfIdle(job);
    return at >= 0;
  }

  began(job: Job): void {
    const { fleet, subscription } = this.sharesOf(job);
    fleet.running++;
    subscription.running++;
  }

  /** Call `wait` first if the job will continue. */
  ended(job: Job): void {
    const { fleet, subscription } = this.sharesOf(job);
    fleet.running--;
    subscription.running--;
    moveToEnd(this.fleets, job.fleetId, fleet);
    moveToEnd(fleet.subscriptions, job.subscriptionId, subscription);
    this.forgetIfIdle(job);
  }

  next(): Job | undefined {
    return this.nextBy(({ running }) => running);
  }

  /** Whether a waiting replay should preempt this running one. */
  isOverdue(job: Job): boolean {
    const own = this.sharesOf(job).fleet;
    const next = this.nextBy((fleet) => (fleet === own ? fleet.running - 1 : fleet.running));
    if (next === undefined) return false;
    const { fleet } = this.sharesOf(next);
    return fleet === own || fleet.running < own.running;
  }

  private nextBy(runningOf: (fleet: Fleet<Job>) => number): Job | undefined {
    let next: Job | undefined;
    let fewest = Infinity;
    for (const fleet of this.fleets.values()) {
      const running = runningOf(fleet);
      const job = running < fewest ? nextOfFleet(fleet) : undefined;
      if (job === undefined) continue;
      next = job;
      fewest = running;
    }
    return next;
  }

  private sharesOf({ fleetId, subscriptionId }: Job) {
    let fleet = this.fleets.get(fleetId);
    if (!fleet) this.fleets.set(fleetId, (fleet = { running: 0, subscriptions: new Map() }));
    let subscription = fleet.subscriptions.get(subscriptionId);
    if (!subscription) fleet.subscriptions.set(subscriptionId, (subscription = { running: 0, waiting: [] }));
    return { fleet, subscription };
  }

  private forgetIfIdle(job: Job): void {
    const { fleet, subscription } = this.sharesOf(job);
    if (subscription.running > 0 || subscription.waiting.length > 0) return;
    fleet.subscriptions.delete(job.subscriptionId);
    if (fleet.subscriptions.size === 0) this.fleets.delete(job.fleetId);
  }
}

interface Fleet<Job> {
  running: number;
  readonly subscriptions: Map<string, Subscription<Job>>;
}

interface Subscription<Job> {
  running: number;
  readonly waiting: Job[];
}

function nextOfFleet<Job extends RotatedReplay>({ subscriptions }: Fleet<Job>): Job | undefined {
  for (const { running, waiting } of subscriptions.values()) {
    if (running > 0 || waiting.length === 0) continue;
    const oldest = waiting.reduce((least, job) => (job.series < least.series ? job : least));
    if (oldest.canGoOn()) return oldest;
  }
  return undefined;
}

function moveToEnd<T>(order: Map<string, T>, key: string, value: T): void {
  order.delete(key);
  order.set(key, value);
}
