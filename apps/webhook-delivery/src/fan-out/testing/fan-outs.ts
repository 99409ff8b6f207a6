import { Registry } from 'prom-client';
import {
  type AvroCodecs,
  consumerGroups,
  createAvroCodecs,
  resolveBatch,
  type SubjectCodec,
  topics,
} from '@waypost/contracts';
import type { FleetEvent, WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import { Quarantine, type Traces } from '@waypost/platform';
import { NO_TRACES } from '@waypost/platform/testing';
import {
  createTaskManager,
  type RecordHeader,
  silentLogger,
  type StreamsBackend,
  type TaskManager,
} from '@waypost/streams';
import { type FencedWriter, readToEnd } from '@waypost/streams/admin';
import { createMemoryBackend, type MemoryLogs } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../../test/support/registry/memory-registry.js';
import { eventOf, subscriptionOf } from '../../../../../test/support/samples.js';
import { until } from '../../../../../test/support/until.js';
import { createFlushScheduler } from '../../commits/flush-scheduler.js';
import { nodeTimers } from '../../process/timers.js';
import { createSubscriptionIndex } from '../../subscriptions/subscription-directory.js';
import { DutyCycle } from '../duty-cycle.js';
import { type FanOutDeps, FanOutTask } from '../fan-out.task.js';

interface FanOutOptions extends FanOutDeps {
  readonly instanceId?: string | undefined;
  readonly onFatal: (error: Error) => void;
}

/** The fan-out: one task for each partition of fleet.events that the group gives this process. */
function createFanOut(options: FanOutOptions): TaskManager {
  return createTaskManager({
    backend: options.backend,
    groupId: consumerGroups.fanOut.id,
    topics: [topics.fleetEvents.name],
    instanceId: options.instanceId,
    createTask: (context) => new FanOutTask(context, options),
    logger: options.logger,
    now: Date.now,
    onFatal: options.onFatal,
  });
}

export const EVENTS = { topic: topics.fleetEvents.name, partition: 0 };
export const OUTPUTS = 4;
const INTERVALS = { intervalMs: 1, busyIntervalMs: 1 };

/** What a fan-out knows when it takes over a partition of events. */
interface Recovered {
  readonly partition: number;
  readonly position: number;
  readonly until: number;
  readonly written: number;
}

/** Partitions of events, subscriptions, and fan-outs of which each takes the place of the one before. */
export class FanOutStage {
  readonly index = createSubscriptionIndex();
  readonly stopped: object[] = [];
  readonly recovered: Recovered[] = [];
  /** How often the subscriptions were read to their end. */
  caughtUp = 0;
  /** Takes in what the topic of subscriptions has at its end. */
  unread: () => Promise<void> = () => Promise.resolve();
  nowMs: () => number = Date.now;
  monotonicMs: () => number = () => performance.now();
  traces: Traces = NO_TRACES;
  /** Default: one that writes. */
  quarantine: Pick<Quarantine, 'put'> | null = null;
  /** Default: a duty cycle, which counts. */
  rounds: Pick<DutyCycle, 'run'> | null = null;
  headroomShare = 1;
  /** The deliveries made in each piece of work. */
  readonly madeInRounds: number[] = [];
  private readonly fanOuts: TaskManager[] = [];
  private made = 0;

  private constructor(
    readonly codecs: AvroCodecs,
    readonly backend: StreamsBackend & MemoryLogs,
  ) {}

  static async open(partitions = 1): Promise<FanOutStage> {
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
    const rejected = topics.telemetryRejected.name;
    const counts = { [EVENTS.topic]: partitions, [topics.webhookDeliveries.name]: OUTPUTS, [rejected]: 1 };
    return new FanOutStage(codecs, createMemoryBackend({ topics: counts, now: Date.now }));
  }

  /** As a restarted process does. */
  async start(): Promise<TaskManager> {
    const { backend, codecs, index } = this;
    const directory = {
      ...index,
      caughtUp: () => {
        this.caughtUp++;
        return this.unread();
      },
    };
    const error = (event: string, fields?: object): void => {
      if (event === 'partition_parked') this.stopped.push(fields ?? {});
    };
    const info = (event: string, fields?: object): void => {
      if (event === 'fan_out_recovered') this.recovered.push(fields as Recovered);
    };
    const fanOut = createFanOut({
      backend,
      codecs,
      directory,
      logger: { ...silentLogger, error, info },
      instanceId: 'fan-out-0',
      nowMs: () => this.nowMs(),
      monotonicMs: () => this.monotonicMs(),
      flushScheduler: createFlushScheduler({
        timers: nodeTimers,
        monotonicMs: () => performance.now(),
        intervals: INTERVALS,
      }),
      headroom: { share: () => this.headroomShare },
      rounds: this.rounds ?? this.countedRounds(),
      metrics: { deliveryCreated: () => void this.made++ },
      quarantine: this.quarantine ?? new Quarantine(backend, codecs, silentLogger, new Registry(), 'webhook-delivery'),
      traces: this.traces,
      onFatal: (fatal) => {
        throw fatal;
      },
    });
    this.fanOuts.push(fanOut);
    await fanOut.start();
    return fanOut;
  }

  /**
   * Lets the test decide what becomes of the appends of fan-outs that start from now on.
   * @returns a function that ends it
   */
  withAppends(append: (writer: FencedWriter, records: Parameters<FencedWriter['append']>[0]) => unknown): () => void {
    const whole = this.backend.fencedWriter.bind(this.backend);
    this.backend.fencedWriter = (transactionalId, partitions) => {
      const writer = whole(transactionalId, partitions);
      return { ...writer, append: async (records) => (await append(writer, records)) as never };
    };
    return () => {
      this.backend.fencedWriter = whole;
    };
  }

  private countedRounds(): Pick<DutyCycle, 'run'> {
    const rounds = new DutyCycle(() => performance.now(), { share: () => 1 });
    return {
      run: (work) => {
        return rounds.run(() => {
          const before = this.made;
          work();
          this.madeInRounds.push(this.made - before);
        });
      },
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.fanOuts.map((fanOut) => fanOut.stop()));
  }

  publish(event: FleetEvent, headers: readonly RecordHeader[] = [], partition = EVENTS.partition): number {
    return this.backend.append(
      { ...EVENTS, partition },
      {
        key: Buffer.from('device-1'),
        value: this.codecs.fleetEvents.encode(event),
        headers,
      },
    );
  }

  written() {
    return valuesOf(this.backend, this.codecs.webhookDeliveries, topics.webhookDeliveries.name, OUTPUTS);
  }

  /** The headers of the records of all deliveries, as "key value". */
  async writtenHeaders(): Promise<string[][]> {
    const found: string[][] = [];
    const fetcher = this.backend.fetcher();
    for (let partition = 0; partition < OUTPUTS; partition++) {
      const deliveries = { topic: topics.webhookDeliveries.name, partition };
      await readToEnd(this.backend, fetcher, deliveries, 0, ({ records }) => {
        for (const { headers = [] } of records) found.push(headers.map(({ key, value }) => `${key} ${String(value)}`));
        return Promise.resolve();
      });
    }
    await fetcher.close();
    return found;
  }

  rejected() {
    return valuesOf(this.backend, this.codecs.telemetryRejected, topics.telemetryRejected.name, 1);
  }

  async committed(partition = EVENTS.partition): Promise<number> {
    const group = this.backend.group({ groupId: consumerGroups.fanOut.id, topics: [] });
    return (await group.committed({ ...EVENTS, partition }))?.offset ?? 0;
  }

  /** Returns what becomes of one event that comes now. */
  async fanOut(): Promise<(WebhookDelivery & { partition: number })[]> {
    if (this.fanOuts.length === 0) await this.start();
    const before = new Set((await this.written()).map(({ eventId }) => eventId));
    const offset = this.publish(eventAt(before.size));
    await until(async () => (await this.committed()) === offset + 1);
    return (await this.written()).filter(({ eventId }) => !before.has(eventId));
  }
}

export function eventAt(second: number): FleetEvent {
  return eventOf({
    eventTime: Date.UTC(2026, 0, 1) + second * 1_000,
    latitude: 1,
    longitude: 2,
    speedInKmh: 0,
    ignition: false,
  });
}

export function subscription(id: string, more: Partial<WebhookSubscription> = {}): WebhookSubscription {
  return subscriptionOf({ id, ...more });
}

/** What is in the log of a topic, with the partition of each. @throws when a record cannot be decoded */
async function valuesOf<T>(
  backend: StreamsBackend,
  codec: SubjectCodec<T>,
  topic: string,
  partitions: number,
): Promise<(T & { partition: number })[]> {
  const found: (T & { partition: number })[] = [];
  const fetcher = backend.fetcher();
  for (let partition = 0; partition < partitions; partition++) {
    await readToEnd(backend, fetcher, { topic, partition }, 0, async ({ records }) => {
      await resolveBatch(codec, records);
      for (const { value } of records) {
        const decoded = codec.decode(value ?? Buffer.alloc(0));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        found.push({ ...decoded.value, partition });
      }
    });
  }
  await fetcher.close();
  return found;
}
