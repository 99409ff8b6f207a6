import { type AvroCodecs } from '@waypost/contracts';
import type { Quarantine, Traces } from '@waypost/platform';
import type { CommittedOffset, StreamRecord, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import type { FencedWriter } from '@waypost/streams/admin';
import type { FlushScheduler } from '../commits/flush-scheduler.js';
import { createPositionCommitter, type PositionCommitter } from '../commits/position-committer.js';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import type { Clocks } from '../process/clocks.js';
import type { TimerPort } from '../process/timers.js';
import type { AttemptRunner } from '../single-attempt/attempt-runner.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { AttemptFlow, type AttemptFlowOptions } from './attempts/attempt-flow.js';
import { AttemptLog, type AttemptLogOptions } from './attempts/attempt-log.js';
import { createAttemptTracer } from './attempts/attempt-trace.js';
import type { RetentionClock } from './attempts/retention-clock.js';
import { CatchUp } from './backlogs/catch-up.js';
import { DeliveryMemory } from './backlogs/delivery-memory.js';
import { type BacklogLimits, type CommitPoint, PartitionBacklogs } from './backlogs/partition-backlogs.js';
import type { PendingDelivery, SubscriptionBacklog } from './backlogs/subscription-backlog.js';
import { HeldBacklogs } from './holds/held-backlogs.js';
import { Outage } from './holds/outage.js';
import { type RecoveredSender } from './recovery/recover-sender.js';
import { StateRecords } from './recovery/state-records.js';
import type { DeliveryScheduler } from './scheduling/delivery-scheduler.js';

export interface SenderDeps extends Clocks {
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
  readonly deps: SenderDeps;
  readonly context: TaskContext;
  readonly writer: FencedWriter;
  readonly recovered: RecoveredSender;
  readonly hasResumed: () => boolean;
  readonly take: (backlog: SubscriptionBacklog, record: StreamRecord) => Promise<void> | null;
  readonly onFinished: (pending: PendingDelivery) => void;
  /** Called when attempts can no longer be logged. */
  readonly onLogFailure: (error: Error) => void;
  /** Called when a parked backlog cannot be read. */
  readonly onReadFailure: (error: Error) => void;
}

/** The collaborators of an open task. */
export class SenderWork {
  readonly recovered: RecoveredSender;
  readonly log: AttemptLog;
  readonly backlogs: PartitionBacklogs;
  readonly states: StateRecords;
  readonly flow: AttemptFlow;
  readonly catchUp: CatchUp;
  readonly held: HeldBacklogs;
  readonly outage: Outage;
  readonly position: PositionCommitter;

  constructor(options: SenderWorkOptions) {
    // Two of them call others that need them first. These calls come only after the constructor: a flush also writes the
    // states that are due and lets the position be committed, and attempts begin and end outages, which hold them.
    const flushCalls: FlushCalls = {
      states: () => this.states.collect(),
      onFlushed: () => this.position.moved(),
    };
    const outageCalls: OutageCalls = {
      onHeld: (backlog) => this.outage.held(backlog),
      onProbe: (backlog) => this.outage.probing(backlog),
      onOutcome: (backlog, outcome) => this.outage.ended(backlog, outcome),
    };

    this.recovered = options.recovered;
    this.log = createLog(options, flushCalls);
    this.backlogs = createBacklogs(options, this.log);
    this.states = createStates(options, this.backlogs);
    this.flow = createFlow(options, this.log, outageCalls);
    this.catchUp = createCatchUp(options, this.backlogs);
    this.held = createHeld(options, this);
    this.outage = createOutage(options, this);
    this.position = createPosition(options, this.backlogs);
  }
}

type FlushCalls = Pick<AttemptLogOptions, 'states' | 'onFlushed'>;
type OutageCalls = Pick<AttemptFlowOptions, 'onHeld' | 'onProbe' | 'onOutcome'>;

function createLog(options: SenderWorkOptions, calls: FlushCalls): AttemptLog {
  const { writer, onLogFailure: onFailure } = options;
  const { codecs, flushScheduler } = options.deps;
  const { partition } = options.context;
  const { attemptsEnd } = options.recovered;
  return new AttemptLog({ writer, codecs, partition, attemptsEnd, flushScheduler, onFailure, ...calls });
}

function createBacklogs({ deps, recovered }: SenderWorkOptions, log: AttemptLog): PartitionBacklogs {
  const { limits, directory, monotonicMs } = deps;
  const { start, begun } = recovered;
  return new PartitionBacklogs({
    limits,
    start,
    begun,
    monotonicMs,
    memory: new DeliveryMemory(limits.bytes, deps.memory),
    attemptsEnd: () => log.attemptsEnd,
    isPaused: (id) => directory.isPaused(id),
  });
}

function createStates({ deps, context }: SenderWorkOptions, backlogs: PartitionBacklogs): StateRecords {
  const { codecs, nowMs, monotonicMs } = deps;
  return new StateRecords({ backlogs, codecs, partition: context.partition, nowMs, monotonicMs });
}

function createFlow(options: SenderWorkOptions, log: AttemptLog, calls: OutageCalls): AttemptFlow {
  const { context, hasResumed, onFinished } = options;
  const { runner, scheduler, timers, metrics, logger, directory, retention, traces } = options.deps;
  const { random, nowMs, monotonicMs } = options.deps;
  return new AttemptFlow({
    context,
    log,
    hasResumed,
    onFinished,
    runner,
    scheduler,
    timers,
    metrics,
    logger,
    directory,
    retention,
    random,
    nowMs,
    monotonicMs,
    tracer: createAttemptTracer(traces),
    ...calls,
  });
}

function createCatchUp(
  { deps, context, take, onReadFailure: onFailure }: SenderWorkOptions,
  backlogs: PartitionBacklogs,
): CatchUp {
  const { backend, codecs, metrics, logger, monotonicMs } = deps;
  const { partition } = context;
  return new CatchUp({
    backend,
    monotonicMs,
    codecs,
    partition,
    backlogs,
    take,
    onFailure,
    leaveOut: (error) => context.leaveOut(error),
    onCaughtUp: () => metrics.parkedChanged(-1),
    onDeleted: (subscriptionId, from, to) =>
      logger.error('deliveries_deleted_unsent', { partition, subscriptionId, from, to }),
  });
}

function createHeld(
  { deps }: SenderWorkOptions,
  { backlogs, flow, states, catchUp }: Pick<SenderWork, 'backlogs' | 'flow' | 'states' | 'catchUp'>,
): HeldBacklogs {
  const { directory, metrics } = deps;
  return new HeldBacklogs({ backlogs, flow, states, catchUp, directory, metrics });
}

function createOutage(
  { deps }: SenderWorkOptions,
  { log, states, flow, held }: Pick<SenderWork, 'log' | 'states' | 'flow' | 'held'>,
): Outage {
  const { directory, timers, random, metrics, nowMs, monotonicMs } = deps;
  return new Outage({
    log,
    states,
    directory,
    timers,
    random,
    metrics,
    nowMs,
    monotonicMs,
    hold: (backlog) => held.hold(backlog),
    release: (backlog) => flow.release(backlog),
    probe: (backlog) => flow.probe(backlog),
  });
}

function createPosition(
  { deps, context, recovered }: SenderWorkOptions,
  backlogs: PartitionBacklogs,
): PositionCommitter {
  const { monotonicMs, logger } = deps;
  return createPositionCommitter({
    context,
    monotonicMs,
    logger,
    committed: committedOf(recovered.start),
    position: () => committedOf(backlogs.commitPoint()),
  });
}

function committedOf({ offset, foldFrom }: CommitPoint): CommittedOffset {
  return { offset, metadata: String(foldFrom) };
}
