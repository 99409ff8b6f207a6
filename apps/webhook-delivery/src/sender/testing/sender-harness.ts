import { Registry } from 'prom-client';
import {
  type AvroCodecs,
  consumerGroups,
  createAvroCodecs,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type {
  AttemptResult,
  OperationalEvent,
  RejectedTelemetry,
  SubscriptionState,
  WebhookAttempt,
  WebhookDelivery,
  WebhookSubscription,
} from '@waypost/domain';
import { Quarantine, type Traces } from '@waypost/platform';
import { NO_TRACES } from '@waypost/platform/testing';
import {
  type CommittedOffset,
  type RecordHeader,
  silentLogger,
  type StreamRecord,
  type StreamsBackend,
  type TaskContext,
  type TaskManager,
  type TopicPartition,
} from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../../test/support/registry/memory-registry.js';
import { createFlushScheduler } from '../../commits/flush-scheduler.js';
import type { BacklogSource } from '../../metrics/backlog-metrics.js';
import type { PastDueSource } from '../../metrics/past-due-metrics.js';
import type { TimerPort } from '../../process/timers.js';
import type { ReservationLimits } from '../../shares/reservations.js';
import type { AttemptRequest, AttemptRun, AttemptRunner } from '../../single-attempt/attempt-runner.js';
import { RetentionClock } from '../attempts/retention-clock.js';
import { DeliveryMemory } from '../backlogs/delivery-memory.js';
import type { BacklogLimits } from '../backlogs/partition-backlogs.js';
import { DeliveryScheduler, type SlotLimits } from '../scheduling/delivery-scheduler.js';
import { createLaneSettings } from '../scheduling/lane-settings.js';
import { createSender } from './create-sender.js';
import type { ManualClock } from './manual-clock.js';
import { aDelivery, aSubscription } from './sender-samples.js';

export const DELIVERIES = { topic: topics.webhookDeliveries.name, partition: 0 };
export const ATTEMPTS = { topic: topics.webhookAttempts.name, partition: 0 };
const STATES = { topic: topics.subscriptionState.name, partition: 0 };
const REJECTED = { topic: topics.telemetryRejected.name, partition: 0 };
export const OPERATIONS = { topic: topics.webhookOperations.name, partition: 0 };

export type Answer = (request: AttemptRequest) => AttemptResult | Promise<AttemptResult | null>;

export interface SenderSettings {
  readonly auth?: 'none' | 'bearer';
  readonly limits?: Partial<BacklogLimits>;
  readonly slots?: Partial<SlotLimits>;
  readonly reservations?: Partial<ReservationLimits>;
  /** Default: valid while it is a member. */
  readonly lease?: { readonly isValid: () => boolean; readonly confirm: () => Promise<boolean> };
  /** Replaces the answers. */
  readonly runner?: AttemptRunner;
  readonly random?: () => number;
  readonly traces?: Traces;
  /** Memory shared by all partitions of the process. Default: no limit. */
  readonly memory?: DeliveryMemory;
  /** Where to go on after a batch that cannot be decoded. Default: no command says so. */
  readonly leaveOut?: TaskContext['leaveOut'];
  /** Awaited before anything goes into the quarantine. */
  readonly beforeQuarantine?: () => Promise<void>;
}

export const ok: AttemptResult = { type: 'response', statusCode: 200 };
export const unavailable: AttemptResult = { type: 'response', statusCode: 503 };

/** Never answers; ends when the sender aborts. */
export function never({ signal }: AttemptRequest): Promise<null> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(null);
    });
  });
}

/** How time passes: faster than real time, or as the test says. */
interface HarnessTime {
  readonly speed?: number;
  readonly clock?: ManualClock;
}

/** One partition with its logs in memory, on a clock of its own, with senders that start and stop. */
export class SenderHarness {
  readonly backend;
  readonly subscriptions = new Map<string, WebhookSubscription>();
  /** How late each retry started. */
  readonly retryLatenessMs: number[] = [];
  /** Errors that the retention clock has logged. */
  readonly errors: string[] = [];
  /** As the metrics count them. */
  expired = 0;
  backlogAges: BacklogSource = () => [];
  pending = 0;
  parked = 0;
  waiting: PastDueSource = () => [];
  /** Called when the directory is to catch up with its topic. */
  unread: (() => void) | undefined;
  private readonly startedAt = Date.now();
  private readonly startedMs = performance.now();
  private steppedMs = 0;
  private aheadMs = 0;
  private readonly senders: TaskManager[] = [];
  private scheduler: DeliveryScheduler | undefined;

  private constructor(
    readonly codecs: AvroCodecs,
    private readonly speed: number,
    private readonly clock: ManualClock | undefined,
  ) {
    const logs = [DELIVERIES, ATTEMPTS, STATES, OPERATIONS, REJECTED].map(({ topic }) => [topic, 1] as const);
    this.backend = createMemoryBackend({ topics: Object.fromEntries(logs), now: () => this.brokersNowMs() });
  }

  static async create({ speed = 1, clock }: HarnessTime = {}): Promise<SenderHarness> {
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
    return new SenderHarness(codecs, speed, clock);
  }

  readonly monotonicMs = (): number => this.clock?.atMs ?? (performance.now() - this.startedMs) * this.speed;

  readonly nowMs = (): number => this.brokersNowMs() + this.aheadMs;

  private readonly brokersNowMs = (): number => this.startedAt + Math.floor(this.monotonicMs()) + this.steppedMs;

  /** Sets the epoch clock of the senders and of the broker ahead, or back. */
  stepClock(byMs: number): void {
    this.steppedMs += byMs;
  }

  /** Sets the epoch clock of the senders ahead, and not that of the broker. */
  stepClockOfSenders(byMs: number): void {
    this.aheadMs += byMs;
  }

  private readonly timers: TimerPort = {
    after: (delayMs, run) => {
      if (this.clock) return this.clock.after(delayMs, run);
      const timer = setTimeout(run, delayMs / this.speed);
      return () => {
        clearTimeout(timer);
      };
    },
  };

  private readonly listeners = new Set<(subscriptionId: string) => void>();

  readonly directory = {
    get: (id: string) => this.subscriptions.get(id),
    isPaused: (id: string) => !['active', 'disabled'].includes(this.subscriptions.get(id)?.status ?? 'active'),
    /** The versions in the topic that this process has not read yet. */
    caughtUp: () => Promise.resolve(this.unread?.()),
    onChange: (listener: (subscriptionId: string) => void) => {
      this.listeners.add(listener);
      return () => this.listeners.delete(listener);
    },
  };

  /** How many senders listen to changes of subscriptions. */
  get listening(): number {
    return this.listeners.size;
  }

  subscribe(id: string, wishes: Partial<WebhookSubscription> = {}): void {
    this.subscriptions.set(id, { ...aSubscription(id), ...wishes });
    for (const listener of this.listeners) listener(id);
  }

  unsubscribe(id: string): void {
    this.subscriptions.delete(id);
    for (const listener of this.listeners) listener(id);
  }

  /** @returns the delivery's offset */
  publish(
    n: number,
    subscriptionId = 'subscription-1',
    deviceId = `device-${String(n)}`,
    eventId = `event-${String(n)}`,
  ): number {
    return this.backend.append(DELIVERIES, {
      key: Buffer.from(subscriptionId),
      value: this.codecs.webhookDeliveries.encode({ ...aDelivery(n), subscriptionId, deviceId, eventId }),
    });
  }

  /** A delivery that the broker appended then. */
  publishAt(n: number, appendedAt: number, fields: Partial<WebhookDelivery> = {}): void {
    const delivery = { ...aDelivery(n), ...fields };
    this.backend.append(DELIVERIES, {
      key: Buffer.from(delivery.subscriptionId),
      value: this.codecs.webhookDeliveries.encode(delivery),
      timestamp: appendedAt,
    });
  }

  /** Any bytes as the next record of the deliveries. */
  append(value: Buffer | null, headers: readonly RecordHeader[] = [], subscriptionId = 'subscription-1'): void {
    this.backend.append(DELIVERIES, { key: Buffer.from(subscriptionId), value, headers });
  }

  writeAttempt(attempt: WebhookAttempt): void {
    const value = this.codecs.webhookAttempts.encode(attempt);
    this.backend.append(ATTEMPTS, { key: Buffer.from(attempt.subscriptionId), value });
  }

  writeState(state: Omit<SubscriptionState, 'known'> & Partial<SubscriptionState>): void {
    const value = this.codecs.subscriptionState.encode({ known: null, ...state });
    this.backend.append(STATES, { key: Buffer.from(state.subscriptionId), value });
  }

  /** The state that a sender leaves of a subscription after failures only for that long. */
  leaveFailing(ms: number, subscriptionId = 'subscription-1', failedDays: SubscriptionState['failedDays'] = []): void {
    const failingSince = Math.round(this.nowMs() - ms);
    const nothingElse = { parkedFrom: null, foldFrom: null, suspendedAt: null };
    this.writeState({ subscriptionId, failingSince, updatedAt: failingSince, ...nothingElse, failedDays });
  }

  /** Without another `random` the first wait is 1.6 s. The next sender replaces the previous one, as a restarted process does. */
  async start(answer: Answer = () => ok, settings: SenderSettings = {}): Promise<AttemptRequest[]> {
    const made: AttemptRequest[] = [];
    const { timers, nowMs, monotonicMs, codecs } = this;
    const backend = withLease(this.backend, settings.lease);
    const { directory } = this;
    const run = async (request: AttemptRequest): Promise<AttemptRun> => {
      made.push(request);
      const result = await answer(request);
      if (result === null) return { type: 'aborted' };
      const about = { url: 'https://example.org/', auth: settings.auth ?? 'none', discardToken: () => undefined };
      return { type: 'ended', ...about, result };
    };
    const nothing = (): void => undefined;
    const quarantine = new Quarantine(backend, codecs, silentLogger, new Registry(), 'webhook-delivery');
    this.scheduler = new DeliveryScheduler({
      slots: { perSubscription: 8, perFleet: 64, perFleetBesideOthers: 64, total: 64, ...settings.slots },
      reservations: { total: 256, perOrigin: 64, ...settings.reservations },
      settings: createLaneSettings(directory),
      ...{
        timers,
        monotonicMs,
        headroom: { share: () => 1, retryStarted: (latenessMs) => void this.retryLatenessMs.push(latenessMs) },
      },
    });
    const sender = createSender({
      backend,
      codecs,
      directory,
      timers,
      nowMs,
      monotonicMs,
      logger: silentLogger,
      closeGraceMs: 20,
      random: settings.random ?? (() => 0),
      traces: settings.traces ?? NO_TRACES,
      limits: { perSubscription: 100, slowAfterMs: 120_000, bytes: Infinity, ...settings.limits },
      memory: settings.memory ?? new DeliveryMemory(Infinity, null),
      retention: new RetentionClock({ nowMs, monotonicMs, logger: { error: (event) => void this.errors.push(event) } }),
      instanceId: 'sender-0',
      leaveOut: settings.leaveOut,
      runner: settings.runner ?? { run },
      scheduler: this.scheduler,
      flushScheduler: createFlushScheduler({ timers, monotonicMs, intervals: { intervalMs: 1, busyIntervalMs: 1 } }),
      metrics: {
        deliveryCreated: nothing,
        deliveryExpired: () => this.expired++,
        attemptEnded: nothing,
        pendingChanged: (by) => (this.pending += by),
        parkedChanged: (by) => (this.parked += by),
        suspendedChanged: nothing,
        watchPastDue: (source) => {
          this.waiting = source;
          return nothing;
        },
        watchBacklogs: (source) => {
          this.backlogAges = source;
          return () => (this.backlogAges = () => []);
        },
      },
      quarantine: {
        put: async (...rejected) => {
          await settings.beforeQuarantine?.();
          await quarantine.put(...rejected);
        },
      },
      onFatal: (error) => {
        throw error;
      },
    });
    this.senders.push(sender);
    await sender.start();
    return made;
  }

  /** Reservations of the process that was started last. */
  get reserved(): number {
    return this.scheduler?.reservations.total ?? 0;
  }

  async stop(): Promise<void> {
    await Promise.all(this.senders.map((sender) => sender.stop()));
  }

  async attempts(): Promise<WebhookAttempt[]> {
    const records = await this.records(ATTEMPTS, this.codecs.webhookAttempts);
    return records.map(({ value }) => decoded(this.codecs.webhookAttempts.decode(value ?? Buffer.alloc(0))));
  }

  /** The `traceparent` of each attempt's record; undefined: it has none. */
  async attemptTraces(): Promise<(string | undefined)[]> {
    const records = await this.records(ATTEMPTS, this.codecs.webhookAttempts);
    return records.map(({ headers }) => headers.find(({ key }) => key === 'traceparent')?.value?.toString());
  }

  async rejected(): Promise<RejectedTelemetry[]> {
    const records = await this.records(REJECTED, this.codecs.telemetryRejected);
    return records.map(({ value }) => decoded(this.codecs.telemetryRejected.decode(value ?? Buffer.alloc(0))));
  }

  async operations(): Promise<OperationalEvent[]> {
    const records = await this.records(OPERATIONS, this.codecs.webhookOperations);
    return records.map(({ value }) => decoded(this.codecs.webhookOperations.decode(value ?? Buffer.alloc(0))));
  }

  /** How often the state of a subscription was written. */
  async stateRecordsOf(subscriptionId: string): Promise<number> {
    const records = await this.records(STATES, this.codecs.subscriptionState);
    return records.filter(({ key }) => key?.toString() === subscriptionId).length;
  }

  /** The latest state of each subscription; null: a tombstone. */
  async states(): Promise<Map<string, SubscriptionState | null>> {
    const latest = new Map<string, SubscriptionState | null>();
    for (const { key, value } of await this.records(STATES, this.codecs.subscriptionState))
      latest.set(key?.toString() ?? '', value && decoded(this.codecs.subscriptionState.decode(value)));
    return latest;
  }

  async committedOffset(): Promise<number> {
    return (await this.committed())?.offset ?? 0;
  }

  /** From where on a successor folds the attempts, for what no state record tells of. */
  async committedFoldFrom(): Promise<number> {
    return Number((await this.committed())?.metadata);
  }

  private committed(): Promise<CommittedOffset | null> {
    return this.backend.group({ groupId: consumerGroups.sender.id, topics: [] }).committed(DELIVERIES);
  }

  private async records(log: TopicPartition, codec: SubjectCodec<unknown>): Promise<StreamRecord[]> {
    const fetcher = this.backend.fetcher();
    const found: StreamRecord[] = [];
    await readToEnd(this.backend, fetcher, log, 0, async ({ records }) => {
      await resolveBatch(codec, records);
      found.push(...records);
    });
    await fetcher.close();
    return found;
  }
}

function decoded<T>(result: { type: string; value?: T }): T {
  if (result.type !== 'decoded' || result.value === undefined) throw new Error(`not readable: ${result.type}`);
  return result.value;
}

function withLease(backend: StreamsBackend, lease: SenderSettings['lease']): StreamsBackend {
  if (lease === undefined) return backend;
  const { isValid: leaseValid, confirm } = lease;
  const group: StreamsBackend['group'] = (options) => ({ ...backend.group(options), leaseValid, confirm });
  return Object.assign(Object.create(backend) as StreamsBackend, { group });
}
