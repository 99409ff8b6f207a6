import {
  type AvroCodecs,
  consumerGroups,
  createAvroCodecs,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type { ReplayProgress, WebhookAttempt, WebhookDelivery, WebhookReplay } from '@waypost/domain';
import { createTaskManager, silentLogger, type StreamsBackend, type TaskManager } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../../test/support/registry/memory-registry.js';
import { subscriptionOf } from '../../../../../test/support/samples.js';
import { attemptOf as sampleOf } from '../../../../../test/support/samples.js';
import { until } from '../../../../../test/support/until.js';
import { nodeTimers } from '../../process/timers.js';
import { ReplayTask, type ReplayTaskDeps } from '../replay.task.js';
import { REPLAYER_COPARTITIONED } from '../replay.task-factory.js';
import { SelectionMemory } from '../selection-memory.js';

function placeOf(topic: string) {
  return { topic, partition: 0 };
}
export const DELIVERIES = placeOf(topics.webhookDeliveries.name);
export const ATTEMPTS = placeOf(topics.webhookAttempts.name);
const REPLAYS = placeOf(topics.webhookReplays.name);
const PROGRESS = placeOf(topics.replayProgress.name);

/** One partition of every log that a replayer reads and writes, in memory. */
export async function openReplayHarness() {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  return new ReplayHarness(codecs);
}

export class ReplayHarness {
  readonly subscriptions = new Map<string, 'active' | 'paused' | 'disabled'>([[SUBSCRIPTION, 'active']]);
  /** The versions in the topic of the subscriptions that this process has not read yet. */
  unread: () => Promise<void> = () => Promise.resolve();
  readonly fatal: Error[] = [];
  /** The events that were logged as errors. */
  readonly errors: string[] = [];
  /** Replays, as the metrics count them. */
  unfinished = 0;
  selections = new SelectionMemory(Infinity);
  /** The clock of the broker, which timestamps what is appended. */
  brokerTime = START;
  private readonly replayers: TaskManager[] = [];
  private readonly backend = createMemoryBackend({
    topics: Object.fromEntries([DELIVERIES, ATTEMPTS, REPLAYS, PROGRESS].map(({ topic }) => [topic, 1])),
    now: () => this.brokerTime,
  });

  constructor(private readonly codecs: AvroCodecs) {}

  /** Each replaces the previous one, as a restarted process does. */
  async startReplayer(
    more: { maxUnsent?: number; now?: () => number; through?: (backend: StreamsBackend) => StreamsBackend } = {},
  ): Promise<TaskManager> {
    const { maxUnsent = 1_000_000, now = Date.now, through = (backend) => backend } = more;
    const replayer = createReplayer({
      backend: through(this.backend),
      codecs: this.codecs,
      directory: {
        get: (id) => {
          const status = this.subscriptions.get(id);
          return status && subscriptionOf({ id, status });
        },
        isPaused: (id) => this.subscriptions.get(id) === 'paused',
        caughtUp: () => this.unread(),
      },
      metrics: { deliveriesReplayed: () => undefined, unfinishedChanged: (by) => (this.unfinished += by) },
      logger: { ...silentLogger, error: (event) => void this.errors.push(event) },
      nowMs: now,
      monotonicMs: now,
      timers: nodeTimers,
      selections: this.selections,
      maxUnsent,
      instanceId: 'replayer-0',
      onFatal: (error) => void this.fatal.push(error),
    });
    this.replayers.push(replayer);
    await replayer.start();
    return replayer;
  }

  async close(): Promise<void> {
    await Promise.all(this.replayers.map((replayer) => replayer.stop()));
  }

  /** Writes the n-th delivery and its attempts; `last` describes the last attempt. */
  sent(n: number, last: Partial<WebhookAttempt> = {}, more: Partial<WebhookDelivery> = {}): void {
    const delivery = deliveryOf(n, more);
    const offset = this.append(DELIVERIES, delivery.subscriptionId, this.codecs.webhookDeliveries.encode(delivery));
    if ((last.attempt ?? 1) > 1) {
      const before = { outcome: 'retrying', decision: 'temporary_status', statusCode: 503, nextDueAt: START + 2_000 };
      this.attempted(attemptOf(delivery, offset, { ...last, ...before, attempt: 1 }));
    }
    this.attempted(attemptOf(delivery, offset, last));
  }

  attempted(attempt: WebhookAttempt): void {
    this.append(ATTEMPTS, attempt.subscriptionId, this.codecs.webhookAttempts.encode(attempt));
  }

  ask(more: Partial<WebhookReplay> = {}): WebhookReplay {
    const replay = replayOf(more);
    this.append(REPLAYS, replay.replayId, this.codecs.webhookReplays.encode(replay));
    return replay;
  }

  forget(replayId: string): void {
    this.append(REPLAYS, replayId, null);
  }

  /** The deliveries that replays have made, in the order of the log. */
  async replayed(): Promise<WebhookDelivery[]> {
    const all = await this.contents(DELIVERIES, this.codecs.webhookDeliveries);
    return all.filter((delivery) => delivery !== null).filter(({ series }) => series > 0);
  }

  /** The numbers of the replayed deliveries. */
  async numbers(): Promise<number[]> {
    return (await this.replayed()).map(({ eventId }) => Number(eventId.replace('event-', '')));
  }

  progress(): Promise<(ReplayProgress | null)[]> {
    return this.contents(PROGRESS, this.codecs.replayProgress);
  }

  async progressOf(replayId = 'replay-1'): Promise<ReplayProgress | undefined> {
    return (await this.progress()).filter((progress) => progress?.replayId === replayId).at(-1) ?? undefined;
  }

  async ended(state: string, replayId?: string): Promise<void> {
    await until(async () => (await this.progressOf(replayId))?.state === state);
  }

  async committed(): Promise<number | undefined> {
    const group = this.backend.group({ groupId: consumerGroups.replayer.id, topics: [] });
    return (await group.committed(REPLAYS))?.offset;
  }

  /** Resolves when every replay written so far is over. */
  async allDone(): Promise<void> {
    await until(async () => (await this.committed()) === (await this.backend.endOffset(REPLAYS)));
  }

  private append(place: typeof REPLAYS, key: string, value: Buffer | null): number {
    return this.backend.append(place, { key: Buffer.from(key), value });
  }

  private async contents<T>(place: typeof REPLAYS, codec: SubjectCodec<T>): Promise<(T | null)[]> {
    const fetcher = this.backend.fetcher();
    const found: (T | null)[] = [];
    await readToEnd(this.backend, fetcher, place, 0, async ({ records }) => {
      await resolveBatch(codec, records);
      for (const { value } of records) {
        const decoded = value && codec.decode(value);
        found.push(decoded?.type === 'decoded' ? decoded.value : null);
      }
    });
    await fetcher.close();
    return found;
  }
}

/** The start of the window of `replayOf`. */
export const START = Date.UTC(2026, 4, 1);
export const SUBSCRIPTION = 'subscription-1';

/** The n-th delivery of the subscription. */
export function deliveryOf(n: number, more: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    eventId: `event-${String(n)}`,
    subscriptionId: SUBSCRIPTION,
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: START,
    format: 'v1',
    body: `{"n":${String(n)},"text":"Zürich 🚚"}`,
    createdAt: START,
    series: 0,
    replayId: null,
    ...more,
  };
}

/** An attempt that delivered it at the start of the window. */
export function attemptOf(
  delivery: WebhookDelivery,
  deliveryOffset: number,
  more: Partial<WebhookAttempt> = {},
): WebhookAttempt {
  const { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId } = delivery;
  const its = { eventId, subscriptionId, fleetId, deviceId, eventType, eventTime, format, series, replayId };
  const times = { deliveryCreatedAt: START, firstAttemptAt: START, dueAt: START, startedAt: START, durationMs: 1 };
  return sampleOf({ ...its, ...times, deliveryOffset, body: delivery.body, ...more });
}

/** A replay of everything within one minute, as fast as possible. */
export function replayOf(more: Partial<WebhookReplay> = {}): WebhookReplay {
  return {
    replayId: 'replay-1',
    subscriptionId: SUBSCRIPTION,
    fleetId: 'fleet-1',
    series: 1,
    startDate: START,
    endDate: START + 60_000,
    status: null,
    statusCode: null,
    eventType: null,
    deviceId: null,
    eventId: null,
    ratePerSecond: 10_000,
    cancelled: false,
    version: 1,
    createdAt: START,
    updatedAt: START,
    ...more,
  };
}

export interface ReplayerOptions extends ReplayTaskDeps {
  readonly instanceId?: string | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The replayer: one task for each partition of webhook.replays that the group gives this process. */
export function createReplayer(options: ReplayerOptions): TaskManager {
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.replayer.id,
    topics: [topics.webhookReplays.name],
    copartitioned: REPLAYER_COPARTITIONED,
    instanceId: options.instanceId,
    createTask: (context) => new ReplayTask(context, options),
    logger: options.logger,
    now: Date.now,
    onFatal: options.onFatal,
  });
}

/** Whole numbers from `from` on, before `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
