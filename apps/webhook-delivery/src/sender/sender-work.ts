import { type AvroCodecs } from '@waypost/contracts';
import type { Quarantine, Traces } from '@waypost/platform';
import type { StreamRecord, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import type { FencedWriter } from '@waypost/streams/admin';
import type { FlushScheduler } from '../commits/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../commits/position-committer.js';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { Clocks } from '../process/clocks.js';
import type { TimerPort } from '../process/timers.js';
import type { AttemptRunner } from '../single-attempt/attempt-runner.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { AttemptFlow } from './attempts/attempt-flow.js';
import { AttemptLog } from './attempts/attempt-log.js';
import { createAttemptTracer } from './attempts/attempt-trace.js';
import type { RetentionClock } from './attempts/retention-clock.js';
import { CatchUp } from './backlogs/catch-up.js';
import { DeliveryMemory } from './backlogs/delivery-memory.js';
import { type BacklogLimits, PartitionBacklogs } from './backlogs/partition-backlogs.js';
import type { PendingDelivery, SubscriptionBacklog } from './backlogs/subscription-backlog.js';
import { HeldBacklogs } from './holds/held-backlogs.js';
import { Outage } from './holds/outage.js';
import { type RecoveredSender } from './recovery/recover-sender.js';
import { StateRecords } from './recovery/state-records.js';
import type { DeliveryScheduler } from './scheduling/delivery-scheduler.js';

export interface SenderParts extends Clocks {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused' | 'onChange' | 'caughtUp'>;
  readonly runner: AttemptRunner;
  readonly scheduler: DeliveryScheduler;
  readonly flushScheduler: FlushScheduler;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly quarantine: Pick<Quarantine, 'put'>;
  readonly logger: StreamsLogger;
  readonly random: () => number;
  /** The limits per partition. */
  readonly limits: BacklogLimits & { readonly bytes: number };
  readonly memory: DeliveryMemory;
  readonly retention: RetentionClock;
  /** How long attempts in flight may continue when the task closes. */
  readonly closeGraceMs: number;
  readonly traces: Traces;
}

export interface SenderWorkOptions {
  readonly parts: SenderParts;
  readonly context: TaskContext;
  readonly writer: FencedWriter;
  readonly recovered: RecoveredSender;
  readonly hasResumed: () => boolean;
  readonly take: (backlog: SubscriptionBacklog, record: StreamRecord) => Promise<void> | null;
  readonly onFinished: (pending: PendingDelivery) => void;
  readonly onFailure: (error: Error) => void;
}

/** The collaborators of an open task. They call each other, so each is connected with those created after it. */
export class SenderWork {
  readonly recovered: RecoveredSender;
  readonly log: AttemptLog;
  readonly backlogs: PartitionBacklogs;
  readonly states: StateRecords;
  readonly flow: AttemptFlow;
  readonly outage: Outage;
  readonly catchUp: CatchUp;
  readonly held: HeldBacklogs;
  readonly position: PositionCommitter;

  constructor(options: SenderWorkOptions) {
    const { parts, context, recovered } = options;
    const { limits, memory, directory, metrics, logger, traces } = parts;
    const { partition } = context;
    const { start, begun, attemptsEnd } = recovered;
    const given = { ...parts, ...options, partition };
    this.recovered = recovered;
    this.log = new AttemptLog({
      ...given,
      attemptsEnd,
      states: () => this.states.collect(),
      onFlushed: () => this.position.moved(),
    });
    const { log } = this;
    this.backlogs = new PartitionBacklogs({
      ...given,
      memory: new DeliveryMemory(limits.bytes, memory),
      start,
      begun,
      attemptsEnd: () => log.attemptsEnd,
      isPaused: (id) => directory.isPaused(id),
    });
    const { backlogs } = this;
    this.states = new StateRecords({ ...given, backlogs });
    const { states } = this;
    this.flow = new AttemptFlow({
      ...given,
      log,
      tracer: createAttemptTracer(traces),
      onHeld: (backlog) => this.outage.held(backlog),
      onProbe: (backlog) => this.outage.probing(backlog),
      onOutcome: (backlog, outcome) => this.outage.ended(backlog, outcome),
    });
    const { flow } = this;
    this.outage = new Outage({
      ...given,
      log,
      states,
      hold: (backlog) => this.held.hold(backlog),
      release: (backlog) => flow.release(backlog),
      probe: (backlog) => flow.probe(backlog),
    });
    this.catchUp = new CatchUp({
      ...given,
      backlogs,
      leaveOut: (error) => context.leaveOut(error),
      onCaughtUp: () => metrics.parkedChanged(-1),
      onDeleted: (subscriptionId, from, to) =>
        logger.error('deliveries_deleted_unsent', { partition, subscriptionId, from, to }),
    });
    this.held = new HeldBacklogs({ ...given, backlogs, flow, states, catchUp: this.catchUp });
    this.position = createPositionCommitter({
      ...given,
      committed: { offset: start.offset, metadata: String(start.foldFrom) },
      position: () => {
        const { offset, foldFrom } = backlogs.commitPoint();
        return { offset, metadata: String(foldFrom) };
      },
    });
  }
}
