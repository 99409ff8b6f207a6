export interface FleetTurnLimits {
  /** How much work of one fleet may be under way. */
  readonly atATime: number;
  /** How much more of it may wait. */
  readonly waiting: number;
  /** And how long. */
  readonly waitMs: number;
}

/** The work waited for other work of its fleet, too long or behind too much. It was not begun. */
export class FleetBusyError extends Error {
  constructor() {
    super('This fleet has too much work for the database under way');
    this.name = 'FleetBusyError';
  }
}

/** What a fleet has under way, and what waits for that, in the order of its arrival. */
interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/**
 * Work that takes a connection, so much of each fleet at a time: one whose transactions wait for each other, or that
 * reads slowly, takes its own share of a pool and not the connections of all others. Work that begins other work, and waits
 * for it, can wait for itself: a transaction inside another one takes no turn.
 */
export class FleetTurns {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly limits: FleetTurnLimits) {}

  /** @throws FleetBusyError before the work has begun */
  async run<T>(fleetId: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(fleetId) ?? { running: 0, waiting: new Set() };
    this.lines.set(fleetId, line);
    if (line.running < this.limits.atATime) line.running += 1;
    else await this.turnIn(line);
    try {
      return await work();
    } finally {
      this.passOn(fleetId, line);
    }
  }

  private turnIn({ waiting }: Line): Promise<void> {
    if (waiting.size >= this.limits.waiting) throw new FleetBusyError();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new FleetBusyError());
      }, this.limits.waitMs);
      waiting.add(begin);
    });
  }

  private passOn(fleetId: string, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      // The turn itself is passed on, so that no newcomer is before those who wait.
      line.waiting.delete(next);
      next();
      return;
    }
    line.running -= 1;
    if (line.running === 0) this.lines.delete(fleetId);
  }
}
