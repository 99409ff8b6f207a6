import { type AvroCodecs, topics } from '@waypost/contracts';
import { type EndpointHealth, HEALTHY, type SubscriptionState } from '@waypost/domain';
import type { Clocks } from '../process/clocks.js';
import type { StateChanges } from './attempt-log.js';
import type { PartitionQueues } from './partition-queues.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface StateRecordsOptions extends Clocks {
  readonly queues: PartitionQueues;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

type Remembered = Pick<SubscriptionState, 'parkedFrom' | 'foldFrom' | keyof EndpointHealth>;

interface Written {
  readonly state: Remembered;
  /** Monotonic. */
  readonly atMs: number;
}

/** While a detached queue advances. Deliveries that finished since are folded again after a crash. */
const ADVANCE_INTERVAL_MS = 1_000;
/** While it does not advance: the attempts of other queues continue, and would all be folded again. Also for counts of failures. */
const STEADY_INTERVAL_MS = 30_000;
const QUEUES_PER_CALL = 500;
/** A shorter run of failures gets no record; after a crash its start is determined again. */
const FAILING_RECORDED_AFTER_MS = 60_000;

const NORMAL: Remembered = { parkedFrom: null, foldFrom: null, ...HEALTHY };

/**
 * The state of single subscriptions that must survive this process: where a detached queue resumes, since when an endpoint
 * fails, whether it is suspended. One record per subscription in webhook-delivery.subscription-state; none in the normal
 * state.
 */
export class StateRecords {
  private readonly watched = new Map<SubscriptionQueue, Written>();
  /** May need a record now. */
  private readonly changed = new Set<SubscriptionQueue>();
  /** Where the round through the others continues. */
  private round: Iterator<[SubscriptionQueue, Written]> = this.watched.entries();

  constructor(private readonly options: StateRecordsOptions) {}

  /** The queue may need a record from now on. */
  watch(queue: SubscriptionQueue): void {
    this.changed.add(queue);
    if (this.watched.has(queue)) return;
    queue.isRemembered = true;
    this.watched.set(queue, { state: NORMAL, atMs: -Infinity });
  }

  /** Continues with the record of a predecessor. */
  recovered(queue: SubscriptionQueue, state: SubscriptionState): void {
    queue.isRemembered = true;
    this.watched.set(queue, { state, atMs: this.options.monotonicMs() });
  }

  /** Whether `collect` would return records. */
  areDue(): boolean {
    this.continueRound();
    return this.changed.size > 0;
  }

  collect(): StateChanges {
    this.continueRound();
    const changes: { queue: SubscriptionQueue; state: Remembered }[] = [];
    for (const queue of this.changed) {
      const written = this.watched.get(queue);
      if (!written) continue;
      this.options.queues.attach(queue);
      const state = this.wanted(queue);
      if (this.isDue(queue, state, written)) {
        if (state.parkedFrom !== null && queue.placement === 'attached') queue.placement = 'detaching';
        changes.push({ queue, state });
      } else if (this.isOver(queue, written)) {
        this.watched.delete(queue);
        queue.isRemembered = false;
        this.options.queues.forgetIfDone(queue);
      }
    }
    this.changed.clear();
    return {
      records: changes.map(({ queue, state }) => this.record(queue.subscriptionId, state)),
      written: () => {
        for (const { queue, state } of changes) this.written(queue, state);
      },
    };
  }

  /** Finds what time alone has made due. A few queues per call: thousands may be watched, and this runs at every flush. */
  private continueRound(): void {
    for (let left = Math.min(QUEUES_PER_CALL, this.watched.size); left > 0; left--) {
      let next = this.round.next();
      if (next.done === true) {
        this.round = this.watched.entries();
        next = this.round.next();
        if (next.done === true) return;
      }
      const [queue, written] = next.value;
      const isAttachable = queue.placement === 'detached' && queue.parkedFrom === null && !queue.isHeld;
      if (isAttachable || this.isOver(queue, written) || this.isDue(queue, this.wanted(queue), written))
        this.changed.add(queue);
    }
  }

  private written(queue: SubscriptionQueue, state: Remembered): void {
    this.watched.set(queue, { state, atMs: this.options.monotonicMs() });
    if (queue.placement === 'detaching' && state.parkedFrom !== null) queue.placement = 'detached';
  }

  private wanted(queue: SubscriptionQueue): Remembered {
    const { queues, monotonicMs } = this.options;
    const { failingSince, suspendedAt, failedDays } = queue.health;
    const isDetachable = queue.parkedFrom !== null || queue.isHeld || queue.placement !== 'attached';
    const isFailingLong = failingSince !== null && monotonicMs() - queue.failingSinceMs >= FAILING_RECORDED_AFTER_MS;
    return {
      parkedFrom: isDetachable ? (queue.lowest() ?? queues.position) : null,
      foldFrom: isDetachable ? queues.foldFromOfLowest(queue) : null,
      ...(isFailingLong || queue.isSuspended ? { failingSince, failedDays } : HEALTHY),
      suspendedAt,
    };
  }

  private isDue(queue: SubscriptionQueue, wanted: Remembered, { state, atMs }: Written): boolean {
    if ((wanted.parkedFrom === null) !== (state.parkedFrom === null)) return true;
    if (wanted.failingSince !== state.failingSince || wanted.suspendedAt !== state.suspendedAt) return true;
    const sinceMs = this.options.monotonicMs() - atMs;
    // One without deliveries moves with those of others: where it was before is as good.
    const advanceMs = queue.lowest() === null ? STEADY_INTERVAL_MS : ADVANCE_INTERVAL_MS;
    if (wanted.parkedFrom !== state.parkedFrom && sinceMs >= advanceMs) return true;
    return (
      (wanted.foldFrom !== state.foldFrom || wanted.failedDays !== state.failedDays) && sinceMs >= STEADY_INTERVAL_MS
    );
  }

  /** The normal state is written, and nothing is pending that could change it. */
  private isOver(queue: SubscriptionQueue, { state }: Written): boolean {
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNormalWritten = parkedFrom === null && failingSince === null && suspendedAt === null;
    return (
      isNormalWritten &&
      queue.placement === 'attached' &&
      queue.health.failingSince === null &&
      queue.parkedFrom === null &&
      !queue.isPaused
    );
  }

  private record(subscriptionId: string, state: Remembered) {
    const { codecs, partition, nowMs } = this.options;
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNormal = parkedFrom === null && failingSince === null && suspendedAt === null;
    const value = isNormal ? null : codecs.subscriptionState.encode({ subscriptionId, ...state, updatedAt: nowMs() });
    return { topic: topics.subscriptionState.name, partition, key: Buffer.from(subscriptionId), value };
  }
}
