export interface FleetTurnLimits {
  /** How much work of one fleet may be under way. */
  readonly atATime: number;
  /** How much of all fleets may be under way before the second of a fleet begins. The first of each begins at once. */
  readonly inAll: number;
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
 * reads slowly, takes its own share of a pool and not the connections of all others; several such fleets leave some of these
 * to the rest. Work that begins other work, and waits for it, can wait for itself: a transaction inside another one takes no
 * turn.
 */
export class FleetTurns {
  private readonly lines = new Map<string, Line>();
  private running = 0;

  constructor(private readonly limits: FleetTurnLimits) {}

  /** @throws FleetBusyError before the work has begun */
  async run<T>(fleetId: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(fleetId) ?? { running: 0, waiting: new Set() };
    this.lines.set(fleetId, line);
    // No newcomer is before those who wait.
    if (line.waiting.size === 0 && this.mayBegin(line)) this.begin(line);
    else await this.turnIn(line);
    try {
      return await work();
    } finally {
      this.end(fleetId, line);
    }
  }

  private mayBegin({ running }: Line): boolean {
    return running === 0 || (running < this.limits.atATime && this.running < this.limits.inAll);
  }

  private begin(line: Line): void {
    line.running += 1;
    this.running += 1;
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

  private end(fleetId: string, line: Line): void {
    line.running -= 1;
    this.running -= 1;
    const next = this.next();
    if (next) {
      const [begin] = next.waiting;
      this.begin(next);
      if (begin) next.waiting.delete(begin);
      begin?.();
    }
    if (line.running === 0) this.lines.delete(fleetId);
  }

  /** Of the fleets that wait and may begin, the one with the least under way. */
  private next(): Line | undefined {
    let found: Line | undefined;
    for (const line of this.lines.values())
      if (line.waiting.size > 0 && this.mayBegin(line) && line.running < (found?.running ?? Infinity)) found = line;
    return found;
  }
}
