import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseOffsets, StreamsBackend, Transaction, TransactionalProducer } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import { RecordCollector } from '../protocol/record-collector.js';

/** A task's access to the transactions of its process; it ends with the first of them that fails. */
export interface TaskProducer {
  /** To be committed in the metadata of each position: the next owner of the partition fences it. */
  readonly transactionalId: string;
  /** All or nothing, together with those of other tasks. Rejects with the refusal if a broker refuses this part. */
  commit(transaction: TaskTransaction): Promise<TaskCommit>;
  close(): void;
}

interface TaskTransaction extends Transaction {
  readonly records: RecordCollector;
}

export interface TaskCommit {
  readonly baseOffsets: BaseOffsets;
  /** Records of an aborted attempt may come before the base offsets. */
  readonly isRepeated: boolean;
}

interface StreamsProducerOptions {
  readonly backend: Pick<StreamsBackend, 'producer'>;
  /** Must never return the same id twice, in whatever process. */
  readonly newTransactionalId: () => string;
  /** How long a transaction waits for other tasks that work on records of the same moment. */
  readonly gatherMs: () => number;
}

/** Bounds the memory of a request; what one task has ready may be larger. */
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

/** Whose tasks commit together: all, or one partition after a failed attempt. */
type Group = 'all' | number;

/**
 * The producer of all tasks of a process. One transaction at a time holds what tasks have handed in while the previous
 * one was under way: brokers do about as much for a transaction of one partition as for one of many. A task that may be
 * the cause of a failed transaction has a producer of its own from its next open() to its next success.
 *
 * Each producer has a transactional.id of its own that is never used again. So a predecessor that is fenced once cannot
 * return, and after a failure every task has to open, and to prove that the partition is still its own.
 */
export class StreamsProducer {
  private readonly shared = new Map<Group, Promise<SharedProducer>>();
  private readonly fencing = new Map<string, Promise<void>>();
  private readonly tasks = new Map<number, { readonly producer: TaskProducer; readonly shared: SharedProducer }>();
  private readonly suspects = new Set<number>();
  private readonly producers = new Set<TransactionalProducer>();
  /** Nothing that was sent under these ids is unknown, so this process need not fence them. */
  private readonly ownIds = new Set<string>();
  private isClosed = false;

  constructor(private readonly options: StreamsProducerOptions) {}

  /** Resolves when no transaction with a part of an earlier task of the partition is under way. */
  async open(partition: number): Promise<TaskProducer> {
    const earlier = this.tasks.get(partition);
    earlier?.producer.close();
    await earlier?.shared.settled();
    const isSuspect = this.suspects.has(partition);
    const shared = await this.sharedBy(isSuspect ? partition : 'all');
    if (this.isClosed) throw new Error(STOPPED);
    const producer = shared.forTask(isSuspect, {
      suspected: () => this.suspects.add(partition),
      committed: () => this.suspects.delete(partition),
    });
    this.tasks.set(partition, { producer, shared });
    return producer;
  }

  /** Ends what another producer has under way, for good. Tasks of one predecessor that open together share the call. */
  fence(transactionalId: string): Promise<void> {
    if (this.ownIds.has(transactionalId)) return Promise.resolve();
    let fenced = this.fencing.get(transactionalId);
    if (!fenced) {
      fenced = this.init(transactionalId).then((producer) => this.end(producer));
      this.fencing.set(transactionalId, fenced);
      const forget = (): unknown => this.fencing.delete(transactionalId);
      void fenced.then(forget, forget);
    }
    return fenced;
  }

  /** Call when all tasks are closed, or are to fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([...this.producers].map((producer) => this.end(producer)));
  }

  private sharedBy(group: Group): Promise<SharedProducer> {
    let shared = this.shared.get(group);
    if (!shared) {
      const forget = (): void => {
        if (this.shared.get(group) === shared) this.shared.delete(group);
      };
      shared = this.create(forget);
      shared.catch(forget);
      this.shared.set(group, shared);
    }
    return shared;
  }

  private async create(forget: () => void): Promise<SharedProducer> {
    const { newTransactionalId, gatherMs } = this.options;
    const transactionalId = newTransactionalId();
    const producer = await this.init(transactionalId);
    this.ownIds.add(transactionalId);
    const onEnd = (end: ProducerEnd): void => {
      forget();
      if (end === 'unknown') this.ownIds.delete(transactionalId);
      void this.end(producer).catch(() => undefined);
    };
    return new SharedProducer(transactionalId, producer, gatherMs(), onEnd);
  }

  private async init(transactionalId: string): Promise<TransactionalProducer> {
    if (this.isClosed) throw new Error(STOPPED);
    const producer = this.options.backend.producer(transactionalId);
    this.producers.add(producer);
    try {
      await producer.init();
      return producer;
    } catch (error) {
      await this.end(producer);
      throw error;
    }
  }

  private end(producer: TransactionalProducer): Promise<void> {
    this.producers.delete(producer);
    return producer.close();
  }
}

const STOPPED = 'The application has stopped.';

/**
 * `unknown`: what became of its last transaction. `held_up`: that is known, but the brokers do not complete it.
 * `cleared`: its only task commits with the others again.
 */
type ProducerEnd = 'unknown' | 'held_up' | 'cleared';

interface TaskOutcomes {
  /** Its part may be the cause of a failed transaction. */
  readonly suspected: () => void;
  readonly committed: () => void;
}

interface Part {
  readonly transaction: TaskTransaction;
  readonly isClosed: () => boolean;
  readonly resolve: (commit: TaskCommit) => void;
  readonly reject: (error: unknown) => void;
  readonly suspected: () => void;
}

class SharedProducer {
  private waiting: Part[] = [];
  private isRunning = false;
  private transacting: Promise<void> = Promise.resolve();
  private failure: { readonly error: unknown } | null = null;

  constructor(
    private readonly transactionalId: string,
    private readonly producer: TransactionalProducer,
    private readonly gatherMs: number,
    private readonly onEnd: (end: ProducerEnd) => void,
  ) {}

  /** @param isAlone the first success proves it innocent: it opens again, to commit with the others */
  forTask(isAlone: boolean, { suspected, committed }: TaskOutcomes): TaskProducer {
    let ended: Error | null = null;
    return {
      transactionalId: this.transactionalId,
      commit: (transaction) =>
        new Promise((resolve, reject: (error: unknown) => void) => {
          const onCommit = (commit: TaskCommit): void => {
            committed();
            if (isAlone) this.end('cleared', [], new Error('It commits with the other tasks again.'));
            resolve(commit);
          };
          if (ended) reject(ended);
          else this.add({ transaction, isClosed: () => ended !== null, resolve: onCommit, reject, suspected });
        }),
      close: () => {
        ended ??= new Error('The task is closed.');
      },
    };
  }

  /** Resolves when the transaction that is under way now is over. */
  settled(): Promise<void> {
    return this.transacting;
  }

  private add(part: Part): void {
    if (this.failure) {
      part.reject(this.failure.error);
      return;
    }
    this.waiting.push(part);
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      await sleep(this.gatherMs);
      this.transacting = this.transact(this.take());
      await this.transacting;
    }
    this.isRunning = false;
  }

  private take(): Part[] {
    let bytes = 0;
    const isOver = ({ transaction }: Part): boolean => (bytes += transaction.records.bytes) > MAX_TRANSACTION_BYTES;
    const end = this.waiting.findIndex(isOver);
    return this.waiting.splice(0, end < 0 ? this.waiting.length : Math.max(1, end));
  }

  /** After a refusal the parts are tried one by one, so that it meets only the task that it is about. */
  private async transact(parts: readonly Part[], isRepeated = false): Promise<void> {
    const open = this.openOf(parts);
    if (open.length === 0) return;
    try {
      const baseOffsets = await this.producer.commit(joined(open.map(({ transaction }) => transaction)));
      for (const { resolve } of open) resolve({ baseOffsets, isRepeated });
    } catch (error) {
      if (!isRefusal(error)) this.end('unknown', open, error);
      else if (error.code === 'BROKER_UNAVAILABLE') this.end('held_up', open, error);
      else if (open.length > 1) for (const part of open) await this.transact([part], true);
      else for (const part of open) refuse(part, error);
    }
  }

  private openOf(parts: readonly Part[]): Part[] {
    for (const { isClosed, reject } of parts) {
      if (this.failure) reject(this.failure.error);
      else if (isClosed()) reject(new Error('The task is closed.'));
    }
    return this.failure ? [] : parts.filter(({ isClosed }) => !isClosed());
  }

  private end(end: ProducerEnd, parts: readonly Part[], error: unknown): void {
    this.failure = { error };
    for (const { reject, suspected } of parts) {
      if (end === 'held_up') suspected();
      reject(error);
    }
    for (const { reject } of this.waiting.splice(0)) reject(error);
    this.onEnd(end);
  }
}

function refuse({ suspected, reject }: Part, refusal: StreamsError): void {
  suspected();
  reject(refusal);
}

function joined(transactions: readonly TaskTransaction[]): Transaction {
  return {
    records: RecordCollector.joined(transactions.map(({ records }) => records)),
    offsets: transactions.flatMap(({ offsets = [] }) => offsets),
  };
}

/** Whether brokers have refused a transaction, which was aborted, so that its producer is still of use. */
function isRefusal(error: unknown): error is StreamsError {
  return error instanceof StreamsError && error.code !== 'PRODUCER_FENCED' && error.code !== 'PRODUCER_FAILED';
}
