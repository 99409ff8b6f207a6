import { topics, type AvroCodecs, type SubscriptionState } from '@waypost/contracts';
import type { StateChanges } from './attempt-log.js';
import type { PartitionQueues } from './partition-queues.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface StateRecordsOptions {
  readonly queues: PartitionQueues;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly now: () => number;
}

/**
 * What must outlive this process of single subscriptions: where a detached queue goes on, since when an endpoint fails,
 * whether it is suspended. One record each in webhook-delivery.subscription-state; none when there is nothing special.
 */
export interface StateRecords {
  /** Something of the queue may be worth a record. */
  watch(queue: SubscriptionQueue): void;
  /** As predecessors left it. */
  recovered(queue: SubscriptionQueue, state: SubscriptionState): void;
  /** Whether `collect` would give any. */
  areDue(): boolean;
  collect(): StateChanges;
}

type Remembered = Pick<SubscriptionState, 'parkedFrom' | 'foldFrom' | 'failingSince' | 'suspendedAt'>;

interface Written {
  readonly state: Remembered;
  readonly at: number;
}

/** While a detached queue moves. What was finished since is folded again after a crash. */
const MOVES_WRITTEN_EVERY_MS = 1_000;
/** While it does not move: the attempts of others go on, and would all be folded again. */
const FOLD_START_WRITTEN_EVERY_MS = 30_000;
/** A shorter run of failures is not worth a record; its beginning is learnt anew after a crash. */
const FAILING_WRITTEN_AFTER_MS = 60_000;

const NOTHING: Remembered = { parkedFrom: null, foldFrom: null, failingSince: null, suspendedAt: null };

export const createStateRecords = (options: StateRecordsOptions): StateRecords => new WatchedQueues(options);

class WatchedQueues implements StateRecords {
  private readonly watched = new Map<SubscriptionQueue, Written>();

  constructor(private readonly options: StateRecordsOptions) {}

  watch(queue: SubscriptionQueue): void {
    if (this.watched.has(queue)) return;
    queue.isRemembered = true;
    this.watched.set(queue, { state: NOTHING, at: -Infinity });
  }

  recovered(queue: SubscriptionQueue, state: SubscriptionState): void {
    queue.isRemembered = true;
    this.watched.set(queue, { state, at: this.options.now() });
  }

  areDue(): boolean {
    for (const [queue, written] of this.watched) {
      if (this.isOver(queue, written) || this.isDue(this.wanted(queue), written)) return true;
    }
    return false;
  }

  collect(): StateChanges {
    const changes: { queue: SubscriptionQueue; state: Remembered }[] = [];
    for (const [queue, written] of this.watched) {
      this.options.queues.attach(queue);
      const state = this.wanted(queue);
      if (this.isDue(state, written)) {
        if (state.parkedFrom !== null && queue.placement === 'attached') queue.placement = 'detaching';
        changes.push({ queue, state });
      } else if (this.isOver(queue, written)) {
        this.watched.delete(queue);
        queue.isRemembered = false;
        this.options.queues.forgetIfDone(queue);
      }
    }
    return {
      records: changes.map(({ queue, state }) => this.record(queue.subscriptionId, state)),
      written: () => {
        for (const { queue, state } of changes) this.written(queue, state);
      },
    };
  }

  private written(queue: SubscriptionQueue, state: Remembered): void {
    this.watched.set(queue, { state, at: this.options.now() });
    if (queue.placement === 'detaching' && state.parkedFrom !== null) queue.placement = 'detached';
  }

  private wanted(queue: SubscriptionQueue): Remembered {
    const { queues, now } = this.options;
    const { failingSince, suspendedAt } = queue.health;
    const isAway = queue.behindFrom !== null || queue.isSuspended || queue.placement !== 'attached';
    const isFailingLong = failingSince !== null && now() - failingSince >= FAILING_WRITTEN_AFTER_MS;
    return {
      parkedFrom: isAway ? (queue.lowest() ?? queues.position) : null,
      foldFrom: isAway ? queues.foldFromOfLowest(queue) : null,
      failingSince: isFailingLong || queue.isSuspended ? failingSince : null,
      suspendedAt,
    };
  }

  private isDue(wanted: Remembered, { state, at }: Written): boolean {
    if ((wanted.parkedFrom === null) !== (state.parkedFrom === null)) return true;
    if (wanted.failingSince !== state.failingSince || wanted.suspendedAt !== state.suspendedAt) return true;
    const sinceMs = this.options.now() - at;
    if (wanted.parkedFrom !== state.parkedFrom && sinceMs >= MOVES_WRITTEN_EVERY_MS) return true;
    return wanted.foldFrom !== state.foldFrom && sinceMs >= FOLD_START_WRITTEN_EVERY_MS;
  }

  /** It is written that there is nothing to remember, and there is nothing that may come to be. */
  private isOver(queue: SubscriptionQueue, { state }: Written): boolean {
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNothingWritten = parkedFrom === null && failingSince === null && suspendedAt === null;
    return (
      isNothingWritten &&
      queue.placement === 'attached' &&
      queue.health.failingSince === null &&
      queue.behindFrom === null
    );
  }

  private record(subscriptionId: string, state: Remembered) {
    const { codecs, partition, now } = this.options;
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNothing = parkedFrom === null && failingSince === null && suspendedAt === null;
    const value = isNothing ? null : codecs.subscriptionState.encode({ subscriptionId, ...state, updatedAt: now() });
    return { topic: topics.subscriptionState.name, partition, key: Buffer.from(subscriptionId), value };
  }
}
