import type { StreamsBackend, Transaction } from '../../backend/backend.js';
import type { StreamsLogger } from '../../logger.js';
import type { createMemoryBackend } from '../../testing/memory-backend.js';

export type Broker = ReturnType<typeof createMemoryBackend>;

/** A backend that notes from where changelogs are read, and whose commits may be made to fail. */
export class Observed {
  readonly readsFrom: number[] = [];
  topicId = 'first';
  failNext: 'before' | 'after' | null = null;
  beforeFailing: () => void = () => undefined;
  readonly backend: StreamsBackend;

  constructor(
    readonly broker: Broker,
    private readonly changelog: string,
  ) {
    const own: Partial<StreamsBackend> = {
      topicId: () => Promise.resolve(this.topicId),
      fetcher: () => {
        const fetcher = broker.fetcher();
        return {
          close: () => fetcher.close(),
          open: (partition, position) => {
            if (partition.topic === this.changelog) this.readsFrom.push(position);
            return fetcher.open(partition, position);
          },
        };
      },
      producer: (transactionalId) => {
        const producer = broker.producer(transactionalId);
        return {
          init: () => producer.init(),
          close: () => producer.close(),
          commit: async (transaction: Transaction) => {
            const failure = this.failNext;
            this.failNext = null;
            const offsets = failure === 'before' ? new Map<string, number>() : await producer.commit(transaction);
            if (failure === null) return offsets;
            this.beforeFailing();
            throw new Error(`the connection broke ${failure} the commit`);
          },
        };
      },
    };
    this.backend = new Proxy(broker, {
      get: (target, property) => {
        const value: unknown = Reflect.get(own, property) ?? Reflect.get(target, property);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

interface Restored {
  readonly keys: number;
  readonly records: number;
  readonly from: string;
}

/** What an application said about its restores and checkpoints. */
export class Journal implements StreamsLogger {
  readonly restored: Restored[] = [];
  readonly events: string[] = [];

  debug(): void {
    // Not of interest here.
  }
  info(event: string, fields: Record<string, unknown> = {}): void {
    this.events.push(event);
    if (event === 'store_restored') this.restored.push(fields as unknown as Restored);
  }
  warn(event: string, fields: Record<string, unknown> = {}): void {
    this.events.push(`${event} ${String(fields['reason'])}`);
  }
  error(event: string): void {
    this.events.push(event);
  }
}
