import type { StreamsLogger } from './logger.js';

/**
 * `read`: a partition, or a topic whose leaders cannot be reached. `table`: a global table that tasks wait for, by
 * topic. `transaction`: a transaction, by its transactional id. `processor`: a processor that waits before its records,
 * by partition.
 */
export const STALL_KINDS = ['read', 'table', 'transaction', 'processor'] as const;
export type StallKind = (typeof STALL_KINDS)[number];

/** Work that is stuck although it should take seconds. */
export interface Stall {
  readonly kind: StallKind;
  readonly name: string;
  readonly cause: string;
  /** Epoch ms. */
  readonly since: number;
}

/** A shorter wait is no stall: brokers restart, and leaders move. */
const STALLED_AFTER_MS = 5_000;

interface Wait extends Stall {
  count: number;
  isStalled: boolean;
  readonly timer: NodeJS.Timeout;
}

/** What a process waits for. Long waits are listed, and logged when they become stalls and when they end. */
export class StallWatch {
  private readonly waits = new Map<string, Wait>();

  constructor(private readonly options: { readonly logger: StreamsLogger; readonly now: () => number }) {}

  /** Waits of the same name count as one. @returns a function that ends the wait; further calls do nothing */
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

  /** Sorted, oldest first. */
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
