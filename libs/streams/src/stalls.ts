import type { StreamsLogger } from './logger.js';

/**
 * `read`: a partition, or a topic whose leaders cannot be reached. `table`: a global table, by its topic, that tasks wait
 * for. `transaction`: a transaction, by its transactional id. `processor`: the processor of a partition, which waits before
 * its records.
 */
export const STALL_KINDS = ['read', 'table', 'transaction', 'processor'] as const;
export type StallKind = (typeof STALL_KINDS)[number];

/** Work that does not go on, although it should within seconds. */
export interface Stall {
  readonly kind: StallKind;
  readonly name: string;
  readonly cause: string;
  /** Epoch ms. */
  readonly since: number;
}

/** A wait that is shorter is no stall: brokers restart, and leaders move. */
const STALLED_AFTER_MS = 5_000;

interface Wait extends Stall {
  count: number;
  isStalled: boolean;
  readonly timer: NodeJS.Timeout;
}

export interface StallWatchOptions {
  readonly logger: StreamsLogger;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What a process waits for. What takes too long is logged once when it does and once when it has ended, and listed. */
export class StallWatch {
  private readonly waits = new Map<string, Wait>();

  constructor(private readonly options: StallWatchOptions) {}

  /** Waits of the same name are one. @returns a function that ends the wait; more calls of it do nothing */
  begin(kind: StallKind, name: string, cause: string): () => void {
    const key = `${kind} ${name}`;
    const wait = this.waits.get(key) ?? this.add(key, { kind, name, cause });
    wait.count++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      wait.count--;
      if (wait.count === 0) this.end(key, wait);
    };
  }

  /** The oldest first. */
  all(): Stall[] {
    return [...this.waits.values()]
      .filter(({ isStalled }) => isStalled)
      .map(({ kind, name, cause, since }) => ({ kind, name, cause, since }))
      .sort((a, b) => a.since - b.since);
  }

  private add(key: string, what: Pick<Stall, 'kind' | 'name' | 'cause'>): Wait {
    const timer = setTimeout(() => {
      wait.isStalled = true;
      this.options.logger.warn('stalled', { ...what, since: wait.since });
    }, STALLED_AFTER_MS).unref();
    const wait: Wait = { ...what, since: this.options.now(), count: 0, isStalled: false, timer };
    this.waits.set(key, wait);
    return wait;
  }

  private end(key: string, { kind, name, since, isStalled, timer }: Wait): void {
    clearTimeout(timer);
    this.waits.delete(key);
    if (isStalled) this.options.logger.info('stall_ended', { kind, name, durationMs: this.options.now() - since });
  }
}
