import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  consumerGroups,
  readTraceHeader,
  readTraceState,
  type ReadValue,
  readValue,
  resolveBatch,
  topics,
} from '@waypost/contracts';
import {
  DELIVERY_UNSTARTED,
  deliveryFault,
  type DeliveryProgress,
  MAX_RETRY_DELAY_MS,
  type SubscriptionState,
  type WebhookDelivery,
} from '@waypost/domain';
import { type PartitionTask, type RecordBatch, slicesOf, type StreamRecord, type TaskContext } from '@waypost/streams';
import type { FencedWriter } from '@waypost/streams/admin';
import type { OldestDelivery } from '../metrics/backlog-metrics.js';
import type { PastDueSubscription } from '../metrics/past-due-metrics.js';
import { type Moment, momentNow, momentOfLog } from '../process/clocks.js';
import { isDeleted } from '../subscriptions/subscription-directory.js';
import { oldestDeliveries } from './backlogs/oldest-deliveries.js';
import { pastDueWork } from './backlogs/past-due-work.js';
import type { PendingDelivery, SubscriptionBacklog, WithdrawnDelivery } from './backlogs/subscription-backlog.js';
import { restoreKnown } from './recovery/known-deliveries.js';
import { type RecoveredSender, recoverSender } from './recovery/recover-sender.js';
import { type SenderDeps, SenderWork } from './sender-work.js';

const SLICE_RECORDS = 250;
const EXPIRE_INTERVAL_MS = 60_000;

/**
 * Sends the deliveries of one partition. A delivery is in the log before its first POST, and each
 * attempt is in the attempt log before the next one of its delivery starts, so a crash can repeat only the attempts in
 * flight. The broker refuses the writes of a process that has lost the partition.
 */
export class SenderTask implements PartitionTask {
  private writer: FencedWriter | null = null;
  private work: SenderWork | null = null;
  private isClosing = false;
  /** Whether the deliveries that predecessors began are in memory. Until then no other may take their reservations. */
  private hasResumed = false;
  /** The last check for expired deliveries, monotonic. */
  private expiredMs = -Infinity;
  private stopListening: () => void = () => undefined;
  private stopWatching: () => void = () => undefined;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: SenderDeps,
  ) {}

  async open(): Promise<{ position: number }> {
    const { partition } = this.context;
    const written = [topics.webhookAttempts, topics.subscriptionState, topics.webhookOperations];
    this.writer = this.deps.backend.fencedWriter(
      `${consumerGroups.sender.id}.${String(partition)}`,
      written.map(({ name: topic }) => ({ topic, partition })),
    );
    // Must come first: it fences the predecessors, so what is read next is final.
    await this.writer.init();
    await this.context.confirmOwnership();
    const recovered = await recoverSender(this.context, this.deps);
    this.deps.retention.saw(recovered.newestAppend);
    this.work = new SenderWork({
      deps: this.deps,
      context: this.context,
      writer: this.writer,
      recovered,
      hasResumed: () => this.hasResumed,
      take: (backlog, record) => this.take(backlog, record),
      onFinished: (pending) => {
        this.finished(pending);
      },
      onLogFailure: (error) => {
        this.fail(error);
        // What is in flight can no longer be logged.
        this.work?.flow.abort();
      },
      onReadFailure: (error) => {
        this.fail(error);
      },
    });
    await this.knowSubscriptionsOf(recovered);
    // Closed during a long recovery: nothing would release what follows.
    if (this.hasClosed()) throw new Error('The partition was revoked while its task opened.');
    this.restoreBacklogs(this.work);
    this.stopListening = this.deps.directory.onChange((subscriptionId) => {
      this.subscriptionChanged(subscriptionId);
    });
    const { metrics } = this.deps;
    const stops = [
      metrics.watchPastDue(() => this.pastDue()),
      metrics.watchBacklogs((createdBefore) => this.oldest(createdBefore)),
    ];
    this.stopWatching = () => {
      for (const stop of stops) stop();
    };
    return { position: recovered.start.offset };
  }

  async process(batch: RecordBatch): Promise<void> {
    const { backlogs, recovered } = this.opened();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      if (this.isClosing) return;
      this.deps.retention.saw(slice.at(-1)?.timestamp ?? -Infinity);
      await resolveBatch(this.deps.codecs.webhookDeliveries, slice);
      if (this.hasClosed()) return;
      for (const record of slice) {
        const quarantined = this.offer(record);
        if (quarantined === null) continue;
        // Passes and commits continue during the wait: the reader has reached this record, but not passed it.
        backlogs.position = record.offset;
        await quarantined;
        if (this.hasClosed()) return;
      }
      backlogs.position = (slice.at(-1)?.offset ?? backlogs.position - 1) + 1;
      await nextTurn();
    }
    backlogs.position = batch.nextOffset;
    this.hasResumed ||= backlogs.position > recovered.begun.upTo;
    this.housekeep();
  }

  idle(): Promise<void> {
    this.hasResumed = true;
    this.housekeep();
    return Promise.resolve();
  }

  revoke(): void {
    this.isClosing = true;
    this.stopListening();
    this.stopWatching();
    this.work?.flow.stop();
    void this.work?.position.stop();
  }

  /** Lets attempts in flight end and be logged; the successor repeats those that do not end in time. */
  async close(): Promise<void> {
    this.revoke();
    const { work } = this;
    if (work) await this.closeWork(work);
    await this.writer?.close();
  }

  private async closeWork({ flow, log, outage, catchUp, backlogs, position }: SenderWork): Promise<void> {
    outage.close();
    const cancelAbort = this.deps.timers.after(this.deps.closeGraceMs, () => {
      flow.abort();
    });
    await Promise.all([flow.settled(), catchUp.close(), position.stop()]);
    cancelAbort();
    await log.drained();
    // Deliveries that wait for a retry hold reservations that other partitions of this process need.
    for (const backlog of backlogs.all()) for (const { pending } of backlog.unfinished.values()) flow.withdraw(pending);
    this.deps.metrics.pendingChanged(-backlogs.pending);
    this.deps.metrics.parkedChanged(-backlogs.parked.size);
    backlogs.close();
  }

  private housekeep(): void {
    const { states, log, position, catchUp, held } = this.opened();
    held.unload();
    const atMs = this.deps.monotonicMs();
    if (atMs - this.expiredMs >= EXPIRE_INTERVAL_MS) {
      this.expiredMs = atMs;
      held.expire();
    }
    states.watchSlow();
    if (states.areDue()) log.requestFlush();
    position.moved();
    catchUp.kick();
  }

  private subscriptionChanged(subscriptionId: string): void {
    const { backlogs, outage, held, flow } = this.opened();
    const backlog = backlogs.known(subscriptionId);
    if (!backlog) return;
    if (isDeleted(this.deps.directory, subscriptionId)) outage.deleted(backlog);
    // Must precede the end of a hold, so that deliveries then begin in order.
    flow.orderChanged(backlog);
    held.subscriptionChanged(backlog);
    this.deps.scheduler.settingsChanged(subscriptionId);
  }

  /** For checks after an await, where the compiler still assumes the value from before. */
  private hasClosed(): boolean {
    return this.isClosing;
  }

  private pastDue(): Iterable<PastDueSubscription> {
    const { backlogs, flow } = this.opened();
    const { scheduler, directory, monotonicMs } = this.deps;
    return pastDueWork(backlogs.all(), {
      isSending: (pending) => flow.isSending(pending),
      waitsForTime: (subscriptionId) => scheduler.waitsForTime(subscriptionId),
      isStrict: (subscriptionId) => directory.get(subscriptionId)?.strictOrder ?? true,
      atMs: monotonicMs(),
    });
  }

  private oldest(createdBefore: number): Iterable<OldestDelivery> {
    const { directory } = this.deps;
    const wasPaused = (subscriptionId: string): boolean => directory.get(subscriptionId)?.status === 'paused';
    return oldestDeliveries(this.opened().backlogs.all(), { createdBefore, wasPaused });
  }

  private opened(): SenderWork {
    if (!this.work) throw new Error('The task has not been opened.');
    return this.work;
  }

  /** A subscription that seems deleted may be newer than what this process has read. */
  private async knowSubscriptionsOf({ states }: RecoveredSender): Promise<void> {
    const { directory } = this.deps;
    if ([...states.keys()].some((id) => isDeleted(directory, id))) await directory.caughtUp();
  }

  /** Continues each subscription that is not in its normal state, and the waits and deliveries begun of all. */
  private restoreBacklogs({ backlogs, recovered, ...work }: SenderWork): void {
    for (const [subscriptionId, state] of recovered.states) {
      const backlog = backlogs.backlog(subscriptionId);
      backlog.fleetId = this.deps.directory.get(subscriptionId)?.fleetId ?? '';
      restoreHealth(backlog, state, recovered.readAt);
      this.restorePlace(backlog, state);
      work.states.recovered(backlog, state);
      this.restoreOutage(backlog);
    }
    for (const [subscriptionId, { notBefore }] of recovered.waits) {
      const { monotonicMs } = momentOfLog(notBefore, MAX_RETRY_DELAY_MS, recovered.readAt);
      if (monotonicMs > this.deps.monotonicMs()) this.deps.scheduler.lane(subscriptionId).beginNoneBefore(monotonicMs);
    }
    for (const [subscriptionId, begun] of recovered.begunBySubscription) {
      const backlog = backlogs.backlog(subscriptionId);
      backlog.begunUpTo = begun.upTo;
      backlog.begunFoldFrom = begun.foldFrom;
    }
  }

  /** Where a detached backlog resumes, and its deliveries that only the log has. */
  private restorePlace(backlog: SubscriptionBacklog, state: SubscriptionState): void {
    const { backlogs, recovered } = this.opened();
    if (state.parkedFrom !== null) {
      backlog.placement = 'detached';
      backlogs.park(backlog, state.parkedFrom);
      this.deps.metrics.parkedChanged(1);
    }
    const { byDelivery } = recovered;
    restoreKnown(backlog, state, { backlogs, byDelivery, dueOf: (progress) => this.dueOf(progress) });
  }

  /** Goes on with an outage, unless a predecessor's attempt or a deletion has ended it. */
  private restoreOutage(backlog: SubscriptionBacklog): void {
    const { outage, recovered } = this.opened();
    const { subscriptionId } = backlog;
    if (backlog.isSuspended) outage.recovered(backlog, recovered.waits.get(subscriptionId) ?? null);
    const accepted = recovered.accepted.get(subscriptionId);
    if (accepted) outage.endedBefore(backlog, accepted);
    if (isDeleted(this.deps.directory, subscriptionId)) outage.deleted(backlog);
  }

  private offer(record: StreamRecord): Promise<void> | null {
    const { backlogs, states } = this.opened();
    const backlog = backlogs.backlog(record.key?.toString() ?? '');
    const wasParked = backlog.parkedFrom !== null;
    if (backlogs.offer(backlog, record.offset)) return this.take(backlog, record);
    if (!wasParked) {
      this.deps.metrics.parkedChanged(1);
      states.watch(backlog);
    }
    return null;
  }

  /** @returns a promise if the record is not a delivery: no later one may be taken until it is quarantined */
  private take(backlog: SubscriptionBacklog, record: StreamRecord): Promise<void> | null {
    const { backlogs, flow, states } = this.opened();
    const { offset, timestamp: appendedAt } = record;
    const known = this.knownOf(backlog, offset);
    if (known === null) {
      backlogs.skip(backlog, offset);
      return null;
    }
    const read = this.deliveryOf(backlog, record);
    if (read.type === 'rejected') {
      backlogs.over(backlog, offset);
      backlogs.forgetIfDone(backlog);
      return this.deps.quarantine.put(this.context, [{ record, ...read }]);
    }
    const { value: delivery } = read;
    const trace = { traceparent: readTraceHeader(record.headers), tracestate: readTraceState(record.headers) };
    const pending = { backlog, offset, appendedAt, delivery, ...trace, ...known, isHeld: false, begun: null };
    backlogs.admit(pending);
    // A held backlog must not hold back the position of the partition.
    if (backlog.isHeld) states.watch(backlog);
    this.deps.metrics.pendingChanged(1);
    flow.begin(pending);
    return null;
  }

  private deliveryOf({ subscriptionId }: SubscriptionBacklog, { value }: StreamRecord): ReadValue<WebhookDelivery> {
    const read = readValue(this.deps.codecs.webhookDeliveries, value);
    if (read.type === 'rejected') return read;
    const fault = deliveryFault(read.value, subscriptionId);
    return fault === null ? read : { type: 'rejected', ...fault };
  }

  /** @returns null: the delivery is finished */
  private knownOf(backlog: SubscriptionBacklog, offset: number): WithdrawnDelivery | null {
    if (offset <= backlog.takenUpTo) {
      const withdrawn = this.opened().backlogs.readAgain(backlog, offset);
      return withdrawn ? { ...withdrawn, due: backlog.dueAfterHold(withdrawn.due) } : null;
    }
    const { byDelivery } = this.opened().recovered;
    const progress = byDelivery.get(offset) ?? DELIVERY_UNSTARTED;
    byDelivery.delete(offset);
    if (progress.type === 'finished') return null;
    return { progress, due: backlog.dueAfterHold(this.dueOf(progress)) };
  }

  private dueOf(progress: DeliveryProgress): Moment {
    if (progress.type !== 'pending') return momentNow(this.deps);
    return momentOfLog(progress.dueAt, MAX_RETRY_DELAY_MS, this.opened().recovered.readAt);
  }

  private finished(pending: PendingDelivery): void {
    const { backlogs, catchUp } = this.opened();
    backlogs.finish(pending);
    this.deps.metrics.pendingChanged(-1);
    catchUp.finishedOne(pending.backlog);
  }

  /** The close that follows lets attempts in flight end. */
  private fail(error: Error): void {
    this.revoke();
    this.context.fail(error);
  }
}

function restoreHealth(backlog: SubscriptionBacklog, state: SubscriptionState, readAt: Moment): void {
  const { failingSince, suspendedAt, failedDays } = state;
  backlog.health = { failingSince, suspendedAt, failedDays };
  if (failingSince !== null) backlog.failingSinceMs = momentOfLog(failingSince, 0, readAt).monotonicMs;
}
