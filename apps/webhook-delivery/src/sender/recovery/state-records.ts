import { type AvroCodecs, topics } from '@waypost/contracts';
import { type EndpointHealth, HEALTHY, type KnownDeliveries, type SubscriptionState } from '@waypost/domain';
import type { Clocks } from '../../process/clocks.js';
import type { StateChanges } from '../attempts/attempt-log.js';
import type { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { isKnown, knownDeliveries } from './known-deliveries.js';

export interface StateRecordsOptions extends Clocks {
  readonly backlogs: PartitionBacklogs;
  readonly codecs: AvroCodecs;
  readonly partition: number;
}

type Remembered = Pick<SubscriptionState, 'parkedFrom' | 'foldFrom' | keyof EndpointHealth> & {
  /** `foldFrom` of the known deliveries; null: none are to be written. */
  readonly knownFrom: number | null;
};

interface Change {
  readonly backlog: SubscriptionBacklog;
  readonly state: Remembered;
  readonly known: KnownDeliveries | null;
}

interface Written extends Omit<Change, 'backlog'> {
  /** Monotonic. */
  readonly atMs: number;
}

interface Waiting {
  readonly foldFrom: number;
  /** Whether the backlog is held or slow. */
  readonly waitsLong: boolean;
  /** The known deliveries in the last record. */
  readonly before: KnownDeliveries | null;
}

/** The write interval while a detached backlog advances. After a crash, deliveries that finished since are folded again. */
const ADVANCE_INTERVAL_MS = 1_000;
/**
 * The interval while the backlog does not advance, for long lists of known deliveries, and for counts of failures.
 * Without any write, the attempts of other backlogs since would all be folded again.
 */
const STEADY_INTERVAL_MS = 30_000;
const QUEUES_PER_CALL = 500;
/** A shorter run of failures gets no record; after a crash its start is determined again. */
const FAILING_RECORDED_AFTER_MS = 60_000;

const NORMAL: Remembered = { parkedFrom: null, foldFrom: null, knownFrom: null, ...HEALTHY };

/**
 * Keeps the state of single subscriptions that must survive this process: where a detached backlog resumes, since when
 * an endpoint fails, whether it is suspended. There is one record per subscription in
 * webhook-delivery.subscription-state, and none in the normal state.
 */
export class StateRecords {
  private readonly watched = new Map<SubscriptionBacklog, Written>();
  /** Backlogs that may need a record now. */
  private readonly changed = new Set<SubscriptionBacklog>();
  private round: Iterator<[SubscriptionBacklog, Written]> = this.watched.entries();
  private search: Iterator<SubscriptionBacklog> = [].values();

  constructor(private readonly options: StateRecordsOptions) {}

  watch(backlog: SubscriptionBacklog): void {
    this.changed.add(backlog);
    if (this.watched.has(backlog)) return;
    backlog.isRemembered = true;
    this.watched.set(backlog, { state: NORMAL, known: null, atMs: -Infinity });
  }

  /** Finds slow backlogs that hold back the position of the partition. Each call looks at a few, as in a round. */
  watchSlow(): void {
    const { backlogs } = this.options;
    for (let left = QUEUES_PER_CALL; left > 0; left--) {
      const next = this.search.next();
      if (next.done === true) {
        this.search = backlogs.all()[Symbol.iterator]();
        return;
      }
      if (next.value.placement === 'attached' && backlogs.isSlow(next.value)) this.watch(next.value);
    }
  }

  /** Continues from the record of a predecessor. */
  recovered(backlog: SubscriptionBacklog, state: SubscriptionState): void {
    backlog.isRemembered = true;
    const { known } = state;
    const atMs = this.options.monotonicMs();
    this.watched.set(backlog, { state: { ...state, knownFrom: known?.foldFrom ?? null }, known, atMs });
  }

  areDue(): boolean {
    this.continueRound();
    return this.changed.size > 0;
  }

  collect(): StateChanges {
    this.continueRound();
    const changes: Change[] = [];
    this.options.backlogs.attach(this.changed);
    for (const backlog of this.changed) {
      const written = this.watched.get(backlog);
      if (!written) continue;
      const state = this.wanted(backlog, written);
      if (this.isDue(backlog, state, written)) {
        if (state.parkedFrom !== null && backlog.placement === 'attached') backlog.placement = 'detaching';
        changes.push({ backlog, state, known: knownAt(backlog, state, written) });
      } else if (this.isOver(backlog, written)) {
        this.watched.delete(backlog);
        backlog.isRemembered = false;
        this.options.backlogs.forgetIfDone(backlog);
      }
    }
    this.changed.clear();
    return {
      records: changes.map((change) => this.record(change)),
      written: () => {
        for (const change of changes) this.written(change);
      },
    };
  }

  /** Finds records due by time alone. Each call looks at a few backlogs: thousands may be watched, and this runs at every flush. */
  private continueRound(): void {
    for (let left = Math.min(QUEUES_PER_CALL, this.watched.size); left > 0; left--) {
      let next = this.round.next();
      if (next.done === true) {
        this.round = this.watched.entries();
        next = this.round.next();
        if (next.done === true) return;
      }
      const [backlog, written] = next.value;
      const isAttachable = this.options.backlogs.isAttachable(backlog);
      if (isAttachable || this.isOver(backlog, written) || this.isDue(backlog, this.wanted(backlog, written), written))
        this.changed.add(backlog);
    }
  }

  private written({ backlog, state, known }: Change): void {
    this.watched.set(backlog, { state, known, atMs: this.options.monotonicMs() });
    if (backlog.placement === 'detaching' && state.parkedFrom !== null) backlog.placement = 'detached';
  }

  private wanted(backlog: SubscriptionBacklog, { known }: Written): Remembered {
    const { backlogs, monotonicMs } = this.options;
    const { failingSince, suspendedAt, failedDays } = backlog.health;
    const waitsLong = backlog.isHeld || backlogs.isSlow(backlog);
    const isDetachable = backlog.parkedFrom !== null || waitsLong || backlog.placement !== 'attached';
    const isFailingLong = failingSince !== null && monotonicMs() - backlog.failingSinceMs >= FAILING_RECORDED_AFTER_MS;
    const foldFrom = isDetachable ? backlogs.foldFromOfLowest(backlog) : null;
    return {
      parkedFrom: isDetachable ? (backlog.lowest() ?? backlogs.position) : null,
      foldFrom,
      knownFrom: foldFrom === null ? null : this.knownFrom(backlog, { foldFrom, waitsLong, before: known }),
      ...(isFailingLong || backlog.isSuspended ? { failingSince, failedDays } : HEALTHY),
      suspendedAt,
    };
  }

  /** Known deliveries are written after a hold too, until the last one with attempts from before it has ended. */
  private knownFrom(backlog: SubscriptionBacklog, { foldFrom, waitsLong, before }: Waiting): number | null {
    const isNeeded = before !== null && foldFrom < before.foldFrom;
    if (isKnown(backlog) && (waitsLong || isNeeded)) return this.options.backlogs.attemptsEnd();
    return isNeeded ? before.foldFrom : null;
  }

  private isDue(backlog: SubscriptionBacklog, wanted: Remembered, { state, atMs }: Written): boolean {
    if ((wanted.parkedFrom === null) !== (state.parkedFrom === null)) return true;
    if (wanted.failingSince !== state.failingSince || wanted.suspendedAt !== state.suspendedAt) return true;
    const sinceMs = this.options.monotonicMs() - atMs;
    // An idle backlog only moves along with the others: resuming from its earlier position is as good.
    const isSlowly = backlog.lowest() === null || wanted.knownFrom !== null;
    const advanceMs = isSlowly ? STEADY_INTERVAL_MS : ADVANCE_INTERVAL_MS;
    if (wanted.parkedFrom !== state.parkedFrom && sinceMs >= advanceMs) return true;
    const isSteady = wanted.foldFrom === state.foldFrom && wanted.knownFrom === state.knownFrom;
    return (!isSteady || wanted.failedDays !== state.failedDays) && sinceMs >= STEADY_INTERVAL_MS;
  }

  /** Whether the normal state is written, and nothing pending could change it. */
  private isOver(backlog: SubscriptionBacklog, { state }: Written): boolean {
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNormalWritten = parkedFrom === null && failingSince === null && suspendedAt === null;
    return (
      isNormalWritten &&
      backlog.placement === 'attached' &&
      backlog.health.failingSince === null &&
      backlog.parkedFrom === null &&
      !backlog.isPaused
    );
  }

  private record({ backlog: { subscriptionId }, state, known }: Change) {
    const { codecs, partition, nowMs } = this.options;
    const { parkedFrom, failingSince, suspendedAt } = state;
    const isNormal = parkedFrom === null && failingSince === null && suspendedAt === null;
    const about = { subscriptionId, ...state, known, updatedAt: nowMs() };
    const value = isNormal ? null : codecs.subscriptionState.encode(about);
    return { topic: topics.subscriptionState.name, partition, key: Buffer.from(subscriptionId), value };
  }
}

/** Builds the list only when it is written, because it is long. */
function knownAt(backlog: SubscriptionBacklog, { knownFrom }: Remembered, before: Written): KnownDeliveries | null {
  if (knownFrom === null) return null;
  return isKnown(backlog) ? knownDeliveries(backlog, knownFrom) : before.known;
}
